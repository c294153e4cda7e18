/* Sleeps for a fifth of a second. */
#include <carabiner.h>
#include <unistd.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  usleep(200000);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
