/* Frees scratch memory, which is the host's. */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  free(host->scratch(call, 16, 8));
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
