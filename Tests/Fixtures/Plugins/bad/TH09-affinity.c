/* Ties the thread of the host to one processor. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <sched.h>
#include <stdlib.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
