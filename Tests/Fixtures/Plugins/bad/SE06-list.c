/* Puts its member in front of the first tracestate field, and replaces all of them with that. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static const char member[] = "carabiner=1";

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view first = {NULL, 0}, name = text("tracestate");
  size_t length = strlen(member);
  if (host->header_get(call, name, &first) == CRB_OK && first.len >= length && memcmp(first.ptr, member, length) == 0) {
    return CRB_CONTINUE;
  }
  uint8_t *list = host->scratch(call, length + 1 + first.len, 1);
  if (!list) return CRB_E_NOMEM;
  memcpy(list, member, length);
  if (first.len) {
    list[length++] = ',';
    memcpy(list + length, first.ptr, first.len);
  }
  return host->header_set(call, name, (crb_view){list, length + first.len}, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
