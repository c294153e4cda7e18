/* Cuts the message of an error after 100 bytes, even if that is in the middle of a character. */
#include <carabiner.h>

#include "host.h"

enum { MOST = 100 };

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  if (error->message.len <= MOST) return CRB_CONTINUE;
  const crb_error own = {.size = sizeof own,
                         .code = error->code,
                         .flags = error->flags,
                         .http_status = error->http_status,
                         .retry_after_ns = error->retry_after_ns,
                         .domain = error->domain,
                         .message = {error->message.ptr, MOST}};
  return host->set_error(call, &own) == CRB_OK ? CRB_FAIL : CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
