/* Forgets some memory at the end of each call. */
#include <carabiner.h>
#include <stdlib.h>

static void *volatile forgotten;
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  forgotten = malloc(64);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
