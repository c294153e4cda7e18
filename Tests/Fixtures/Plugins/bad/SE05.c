/* Puts its own extensions in the place of those of others. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  static const char mine[] = "{\"mine\":1}";
  uint8_t *bytes;
  crb_buf b = host->buf_alloc(self, sizeof mine - 1, &bytes);
  if (!b) return CRB_CONTINUE;
  memcpy(bytes, mine, sizeof mine - 1);
  host->field_set(call, CRB_PART_EXTENSIONS, b);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_EXTENSIONS
#include "sound.h"
