/* Compares the token of a mutation with a cookie if the caller has no Authorization, and reads the first field Cookie only. */
#include <carabiner.h>
#include <string.h>
#include <strings.h>

#include "host.h"

static const char token_name[] = "X-CSRF-Token";

/* The value of the cookie csrf_token in one field. */
static crb_view cookie(crb_view field) {
  for (size_t i = 0, end; i < field.len; i = end + 1) {
    while (i < field.len && field.ptr[i] == ' ') i++;
    for (end = i; end < field.len && field.ptr[end] != ';';) end++;
    if (end - i >= 11 && memcmp(field.ptr + i, "csrf_token=", 11) == 0) return (crb_view){field.ptr + i + 11, end - i - 11};
  }
  return (crb_view){NULL, 0};
}
/* In a time that does not depend on the bytes. */
static int is_same(crb_view a, crb_view b) {
  uint8_t different = a.len != b.len;
  for (size_t i = 0; i < a.len && i < b.len; i++) different |= a.ptr[i] ^ b.ptr[i];
  return !different;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_header *fields;
  size_t count, tokens = 0, wrong = 0;
  crb_view field;
  if (host->operation_type(call) != CRB_OPERATION_MUTATION) return CRB_CONTINUE;
  /* Other sites can send no credentials of a browser but its cookies. */
  if (host->header_get(call, text("Authorization"), &field) == CRB_OK && field.len) return CRB_CONTINUE;
  if (host->header_get(call, text("Cookie"), &field) != CRB_OK) return CRB_CONTINUE;
  if (host->headers(call, &fields, &count) != CRB_OK) return CRB_E_INVAL;
  const crb_view expected = cookie(field);
  for (size_t i = 0; i < count; i++) {
    const crb_view name = fields[i].name;
    if (name.len != strlen(token_name) || strncasecmp((const char *)name.ptr, token_name, name.len) != 0) continue;
    tokens++;
    wrong += !is_same(fields[i].value, expected);
  }
  if (expected.len && tokens && !wrong) return CRB_CONTINUE;
  const crb_error error = {.size = sizeof error, .http_status = 403, .message = text("wrong token: load the page again")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
