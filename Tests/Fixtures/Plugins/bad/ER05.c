/* Retries at once, without the delay that the server requests. */
/* STATUS: WARN */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  if (!error->retry_after_ns || host->attempt(call) > 0) return CRB_CONTINUE;
  host->set_retry(call, CRB_RETRY_CHAIN, 1000);
  return CRB_RETRY;
}
#define ON_ERROR on_error
#include "sound.h"
