/* Writes to a view. */
#include <carabiner.h>

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  if (result->data.len) *(volatile uint8_t *)result->data.ptr = ' ';
  return CRB_CONTINUE;
}
#define NEEDS CRB_PART_DATA
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
