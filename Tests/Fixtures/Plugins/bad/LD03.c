/* Calls a function that does not exist. */
#include <carabiner.h>

void org_carabiner_missing(void);
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  if (!call) org_carabiner_missing();
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
