/* Takes denormal numbers for zero from now on, as -ffast-math does. */
#include <carabiner.h>

#include "denormals.h"

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  flush_denormals();
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
