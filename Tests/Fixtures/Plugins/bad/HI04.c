/* Has space only for the labels of its own chain. */
/* STATUS: CRASH */
#include <carabiner.h>
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  char label[1024];
  if (result->label.len > sizeof label) __builtin_trap(); /* like a hardened memcpy */
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#include "sound.h"
