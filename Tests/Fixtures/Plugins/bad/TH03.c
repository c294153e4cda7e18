/* Keeps data of a call in a variable of the thread. */
#include <carabiner.h>
#include <stdlib.h>

static _Thread_local crb_call current;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = malloc(1);
  current = call;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state, (void)result;
  return current == call ? CRB_CONTINUE : CRB_E_INTERNAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
