/* Replaces every error by a friendlier one, without its flags, its status and its delay. */
/* STATUS: WARN */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state, (void)error;
  const crb_error own = {
      .size = sizeof own, .code = 1, .message = text("The books cannot be reached at the moment. Please try again later.")};
  return host->set_error(call, &own) == CRB_OK ? CRB_FAIL : CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
