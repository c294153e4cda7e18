/* Looks for a header in one spelling before it sets its own. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_header *fields;
  size_t count;
  if (host->headers(call, &fields, &count) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < count; i++) {
    if (fields[i].name.len == 15 && memcmp(fields[i].name.ptr, "Accept-Language", 15) == 0) return CRB_CONTINUE;
  }
  return host->header_set(call, text("Accept-Language"), text("en"), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
