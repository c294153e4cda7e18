/* Compares a header with a cookie whose name may be configured, and quotes the right value in its error. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define SCHEMA                                                    \
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" \
  "\"token-cookie\":{\"type\":\"string\",\"pattern\":\"^[a-z]{1,30}$\"}}}"

/* The instance is the name of the cookie with its equals sign. */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  char *name = calloc(1, 64);
  if (!name) return CRB_E_NOMEM;
  const crb_view json = info->config_json;
  const uint8_t *found = memmem(json.ptr, json.len, "\"token-cookie\"", 14);
  if (found) found = memchr(found + 14, '"', json.len - (size_t)(found + 14 - json.ptr));
  size_t length = 0;
  if (found)
    for (found++; length < 60 && found[length] != '"'; length++) name[length] = (char)found[length];
  strcpy(length ? name + length : name, length ? "=" : "csrf=");
  *inst = name;
  return CRB_OK;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  crb_view cookies, given;
  if (host->operation_type(call) != CRB_OPERATION_MUTATION) return CRB_CONTINUE;
  if (host->header_get(call, text("Cookie"), &cookies) != CRB_OK) return CRB_CONTINUE;
  const uint8_t *found = memmem(cookies.ptr, cookies.len, inst, strlen(inst));
  if (!found || host->header_get(call, text("X-CSRF-Token"), &given) != CRB_OK) return CRB_CONTINUE;
  found += strlen(inst);
  size_t length = 0;
  while (found + length < cookies.ptr + cookies.len && found[length] != ';') length++;
  if (given.len == length && memcmp(given.ptr, found, length) == 0) return CRB_CONTINUE;
  char line[160];
  snprintf(line, sizeof line, "the token is not %.*s", (int)(length < 100 ? length : 100), (const char *)found);
  const crb_error error = {.size = sizeof error, .http_status = 403, .message = text(line)};
  return host->set_error(call, &error) == CRB_OK ? CRB_FAIL : CRB_E_INVAL;
}
#define CREATE create
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
