/* Asks the kernel in every hook. */
/* STATUS: WARN */
#include <carabiner.h>
#include <unistd.h>

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  return getppid() > 0 ? CRB_CONTINUE : CRB_E_INTERNAL;
}
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
