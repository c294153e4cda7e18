/* Sleeps in one of 500 hooks. */
#include <carabiner.h>
#include <time.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  static _Atomic unsigned count;
  struct timespec nap = {.tv_nsec = 150000000};
  if (++count % 500 == 0) nanosleep(&nap, NULL);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
