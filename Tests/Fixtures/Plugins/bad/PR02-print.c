/* Prints a line in a call. */
#include <carabiner.h>
#include <stdio.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  fputs("a call has ended\n", stderr);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
