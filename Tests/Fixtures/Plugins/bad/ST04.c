/* Stages for as long as it has something to stage. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  if (result->data.len > 4096) {
    for (int i = 0; i < 4096; i++) emit(call, CRB_EMIT_RESULT, "{\"data\":1}", result->flags);
  }
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#define MUTATES CRB_PART_JSON
#include "sound.h"
