/* Leaves a descriptor open in each call. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <fcntl.h>
#include <stdlib.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
