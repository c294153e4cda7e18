/* Takes a place in the thread memory that was laid out at the start. */
/* CFLAGS: -ftls-model=initial-exec */
#include <carabiner.h>

static __thread volatile int calls;
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  calls++;
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
