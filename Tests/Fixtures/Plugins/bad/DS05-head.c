/* Refuses web pages by the Content-Type in the head of a response, and does not declare that it needs headers. */
#include <carabiner.h>
#include <strings.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  for (size_t i = 0; i < head->header_count; i++) {
    const crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (name.len != 12 || strncasecmp((const char *)name.ptr, "content-type", 12) != 0) continue;
    if (value.len < 9 || strncasecmp((const char *)value.ptr, "text/html", 9) != 0) continue;
    const crb_error error = {.size = sizeof error, .http_status = 502, .message = text("the server answered with a web page")};
    return host->set_error(call, &error) == CRB_OK ? CRB_FAIL : CRB_CONTINUE;
  }
  return CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#include "sound.h"
