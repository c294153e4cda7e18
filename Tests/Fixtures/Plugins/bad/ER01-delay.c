/* Gives an error another message, and keeps its code, flags and status but not the delay that the server asked for. */
/* STATUS: WARN */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  const crb_error own = {.size = sizeof own,
                         .code = error->code,
                         .flags = error->flags,
                         .http_status = error->http_status,
                         .domain = error->domain,
                         .message = text("this did not work; try again later")};
  return host->set_error(call, &own) == CRB_OK ? CRB_FAIL : CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
