/* Gives the thread of the host a signal stack of its own. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <signal.h>
#include <stdlib.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  static char stack[64 << 10];
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, NULL);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
