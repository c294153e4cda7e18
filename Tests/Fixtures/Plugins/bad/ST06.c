/* Crashes when it is cancelled after the fifth result. */
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
  *(int *)state = (int)result->seq + 1;
  return CRB_CONTINUE;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  if (state && *(int *)state == 5) __builtin_trap();
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_CANCEL on_cancel
#include "sound.h"
