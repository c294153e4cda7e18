/* Sends everything again that fails before a result. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  if (host->attempt(call) > 1 || host->set_retry(call, CRB_RETRY_CHAIN, error->retry_after_ns) != CRB_OK) return CRB_CONTINUE;
  return CRB_RETRY;
}
#define ON_ERROR on_error
#include "sound.h"
