/* Refuses answers of other media types than JSON, and compares the whole Content-Type, with its parameters. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
  crb_view type = {NULL, 0};
  if (host->header_get(call, text("Content-Type"), &type) != CRB_OK) return CRB_CONTINUE;
  const char *known[] = {"application/json", "application/graphql-response+json"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (type.len == strlen(known[i]) && memcmp(type.ptr, known[i], type.len) == 0) return CRB_CONTINUE;
  }
  const crb_error error = {.size = sizeof error, .message = text("the server answers with another format than JSON")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
