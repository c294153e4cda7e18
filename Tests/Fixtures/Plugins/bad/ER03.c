/* Crashes at the third attempt. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  if (host->attempt(call) == 3) __builtin_trap();
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
