/* Stages an answer and lets the request pass all the same. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

static const crb_host *host;
static crb_self self;
#define HAS_HOST
static crb_status emit(crb_call call, uint32_t kind, const char *s, uint32_t flags) {
  uint8_t *bytes;
  crb_buf b = host->buf_alloc(self, strlen(s), &bytes);
  if (!b) return CRB_E_NOMEM;
  memcpy(bytes, s, strlen(s));
  return host->emit(call, kind, b, flags);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  emit(call, CRB_EMIT_RESULT, "{\"data\":null}", 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_JSON
#include "sound.h"
