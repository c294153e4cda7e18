/* Crashes in on_error if two results went outward before, when there is no retry any more. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(int));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call;
  if (result->flags & CRB_RESULT_HAS_NEXT) ++*(int *)state;
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call, (void)error;
  if (*(int *)state == 2) __builtin_trap();
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_ERROR on_error
#include "sound.h"
