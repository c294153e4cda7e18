/* Compares only as many bytes of the token with the cookie as the token has. */
#include <carabiner.h>
#include <string.h>
#include <strings.h>

#include "host.h"

static int is_named(const crb_header *field, const char *name) {
  return field->name.len == strlen(name) && strncasecmp((const char *)field->name.ptr, name, strlen(name)) == 0;
}
/* The value of the cookie csrf in one field. */
static crb_view cookie(crb_view field) {
  for (size_t i = 0, end; i < field.len; i = end + 1) {
    while (i < field.len && field.ptr[i] == ' ') i++;
    for (end = i; end < field.len && field.ptr[end] != ';';) end++;
    if (end - i >= 5 && memcmp(field.ptr + i, "csrf=", 5) == 0) return (crb_view){field.ptr + i + 5, end - i - 5};
  }
  return (crb_view){NULL, 0};
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_header *fields;
  size_t count, cookies = 0, tokens = 0, wrong = 0;
  crb_view expected = {NULL, 0};
  if (host->headers(call, &fields, &count) != CRB_OK) return CRB_E_INVAL;
  for (size_t i = 0; i < count; i++) {
    if (!is_named(&fields[i], "Cookie")) continue;
    cookies++;
    if (!expected.ptr) expected = cookie(fields[i].value);
  }
  if (!cookies) return CRB_CONTINUE;
  for (size_t i = 0; i < count; i++) {
    if (!is_named(&fields[i], "X-CSRF-Token")) continue;
    const crb_view given = fields[i].value;
    tokens++;
    wrong += given.len > expected.len || (given.len && memcmp(given.ptr, expected.ptr, given.len) != 0);
  }
  if (expected.len && tokens && !wrong) return CRB_CONTINUE;
  crb_error error = {.size = sizeof error, .code = 1, .http_status = 403, .message = text("wrong token: load the page again")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
