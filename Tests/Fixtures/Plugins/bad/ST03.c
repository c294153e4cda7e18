/* Stages a result and drops it. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state, (void)result;
  return emit(call, CRB_EMIT_RESULT, "{\"data\":null}", 0) == CRB_OK ? CRB_DROP : CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define MUTATES CRB_PART_JSON
#include "sound.h"
