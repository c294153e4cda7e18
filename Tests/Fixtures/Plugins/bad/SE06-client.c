/* Puts the decoded name of the client, a member of the extensions, into a header, also with line ends. */
/* STATUS: WARN */
#define _GNU_SOURCE
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view json;
  if (host->field_get(call, CRB_PART_EXTENSIONS, &json) != CRB_OK) return CRB_CONTINUE;
  const uint8_t *end = json.ptr + json.len, *at = memmem(json.ptr, json.len, "\"client\":\"", 10);
  if (!at) return CRB_CONTINUE;
  char name[64];
  size_t n = 0;
  for (at += 10; at < end && *at != '"' && n < sizeof name; at++) {
    const int is_escape = *at == '\\' && end - at > 1;
    if (is_escape) at++;
    if (is_escape && *at == 'u') break;
    name[n++] = is_escape && *at == 'n' ? '\n' : is_escape && *at == 'r' ? '\r' : (char)*at;
  }
  const crb_view value = {(const uint8_t *)name, n};
  return host->header_set(call, text("X-Client"), value, CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_EXTENSIONS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
