/* Asks for another attempt for as long as the host allows it. */
/* STATUS: WARN */
/* ONLY: ER03 */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  if (!(error->flags & CRB_ERROR_RETRYABLE)) return CRB_CONTINUE;
  return host->set_retry(call, CRB_RETRY_CHAIN, 0) == CRB_OK ? CRB_RETRY : CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
