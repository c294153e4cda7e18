/* Has room for sixteen results. */
/* STATUS: CRASH */
#include <carabiner.h>

static char *volatile places[16];
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  if (result->seq >= 128 && result->flags & CRB_RESULT_HAS_NEXT) *(volatile int *)(uintptr_t)(result->seq & 1) = 1;
  places[result->seq % 16] = NULL;
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
