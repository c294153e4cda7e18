/* Logs the headers of requests that a server refuses. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  const crb_header *fields;
  size_t count, used = 0;
  if (!*state) *state = calloc(1, 2048);
  char *line = *state;
  if (!line || host->headers(call, &fields, &count) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < count && used < 1500; i++) {
    used += (size_t)snprintf(line + used, 512, "%.*s: %.*s; ", (int)fields[i].name.len, (const char *)fields[i].name.ptr,
                             (int)(fields[i].value.len < 200 ? fields[i].value.len : 200), (const char *)fields[i].value.ptr);
  }
  return CRB_CONTINUE;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst;
  if (state && head->status >= 400) host->log(self, CRB_LOG_WARN, call, text(state));
  return CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
