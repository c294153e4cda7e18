/* Logs the headers of requests, and knows the names of secret ones in one spelling only. */
#include <carabiner.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

static int is(crb_view name, const char *other) {
  return name.len == strlen(other) && memcmp(name.ptr, other, name.len) == 0;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_header *fields;
  size_t count;
  if (!host->log_enabled(self, CRB_LOG_DEBUG) || host->headers(call, &fields, &count) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < count; i++) {
    const crb_view name = fields[i].name, value = fields[i].value;
    char line[1024];
    if (name.len + value.len + 3 > sizeof line) continue;
    const int is_secret = fields[i].flags & CRB_HEADER_SENSITIVE || is(name, "Authorization") || is(name, "Cookie");
    snprintf(line, sizeof line, "%.*s: %.*s", (int)name.len, (const char *)name.ptr, is_secret ? 1 : (int)value.len,
             is_secret ? "*" : (const char *)value.ptr);
    for (char *c = line; *c; c++) {
      if ((uint8_t)*c < ' ' || *c == 127) *c = '?';
    }
    host->log(self, CRB_LOG_DEBUG, call, text(line));
  }
  return CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
