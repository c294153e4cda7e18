/* Stamps the length of the body into a header, and fails a request whose body it cannot read, which is every upload. */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view body = {NULL, 0};
  crb_status status = host->field_get(call, CRB_PART_BODY, &body);
  if (status != CRB_OK && status != CRB_E_NOTFOUND) return CRB_FAIL;
  char length[32];
  snprintf(length, sizeof length, "%zu", body.len);
  return host->header_set(call, text("X-Body-Length"), text(length), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_BODY
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
