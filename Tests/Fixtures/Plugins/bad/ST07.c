/* Replaces results and forgets that more follows. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  uint8_t *copy;
  if (!result->json.len) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(self, result->json.len, &copy);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(copy, result->json.ptr, result->json.len);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
