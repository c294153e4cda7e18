/* Takes priority from the thread of the host. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <unistd.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  (void)!nice(1);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
