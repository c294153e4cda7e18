/* Adds its header at the first attempt only, although each attempt has a new request. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  if (host->attempt(call) > 0) return CRB_CONTINUE;
  return host->header_set(call, text("X-Client"), text("books"), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define RELEASE NULL
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
