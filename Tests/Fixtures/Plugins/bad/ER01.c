/* Fails in on_error without setting an error. */
#include <carabiner.h>

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call, (void)state, (void)error;
  return CRB_FAIL;
}
#define ON_ERROR on_error
#include "sound.h"
