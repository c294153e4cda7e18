/* Asks for another attempt after each broken connection, also of a call whose results it has passed on. */
/* STATUS: WARN */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  if (!(error->flags & CRB_ERROR_TRANSPORT) || host->operation_type(call) == CRB_OPERATION_MUTATION) return CRB_CONTINUE;
  if (host->attempt(call) >= 1) return CRB_CONTINUE;
  return host->set_retry(call, CRB_RETRY_CHAIN, error->retry_after_ns) == CRB_OK ? CRB_RETRY : CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
