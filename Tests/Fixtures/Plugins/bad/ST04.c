/* Stages for as long as it has something to stage. */
#include <carabiner.h>
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
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  if (result->data.len > 4096) {
    for (int i = 0; i < 4096; i++) emit(call, CRB_EMIT_RESULT, "{\"data\":1}", 0);
  }
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#define MUTATES CRB_PART_JSON
#include "sound.h"
