/* Would end the process of its host. */
/* STATUS: WARN */
#include <carabiner.h>
#include <stdlib.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  if (!call) exit(1);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
