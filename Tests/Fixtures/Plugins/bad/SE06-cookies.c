/* Joins the Set-Cookie fields of a response to one. */
#include <carabiner.h>
#include <string.h>
#include <strings.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  char joined[2048];
  size_t used = 0, count = 0;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (name.len != 10 || strncasecmp((const char *)name.ptr, "set-cookie", 10) != 0) continue;
    if (used + value.len + 2 > sizeof joined) return CRB_CONTINUE;
    if (count++) {
      memcpy(joined + used, ", ", 2);
      used += 2;
    }
    if (value.len) memcpy(joined + used, value.ptr, value.len);
    used += value.len;
  }
  if (count < 2) return CRB_CONTINUE;
  crb_view value = {(const uint8_t *)joined, used};
  return host->header_set(call, text("set-cookie"), value, CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
