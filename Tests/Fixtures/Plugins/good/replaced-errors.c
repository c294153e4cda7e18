/* Replaces each error by one of its own, also if the host does not take it or has ended the wait of the hook. */
#include <carabiner.h>

#include "../bad/host.h"

#define ID "org.carabiner.test.good-replaced-errors"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  const crb_error own = {.size = sizeof own,
                         .code = error->code,
                         .flags = error->flags,
                         .http_status = error->http_status,
                         .retry_after_ns = error->retry_after_ns,
                         .message = text("the books are not at hand; try again later")};
  host->set_error(call, &own);
  return CRB_FAIL;
}
#define ON_ERROR on_error
#include "../bad/sound.h"
