/* Refuses a tenant with unusual characters, and looks at the first field only. */
#include <carabiner.h>

#include "host.h"

static int is_usual(uint8_t byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-';
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view tenant;
  if (host->header_get(call, text("X-Tenant"), &tenant) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < tenant.len; i++) {
    if (is_usual(tenant.ptr[i])) continue;
    crb_error error = {.size = sizeof error, .code = 1, .http_status = 400,
                       .message = text("the tenant has unusual characters: send letters, digits and dashes")};
    host->set_error(call, &error);
    return CRB_FAIL;
  }
  return CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
