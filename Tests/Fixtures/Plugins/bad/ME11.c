/* Leaves a descriptor open once in a hundred calls. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <fcntl.h>
#include <stdlib.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  static _Atomic unsigned count;
  if (++count % 100 == 0) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
