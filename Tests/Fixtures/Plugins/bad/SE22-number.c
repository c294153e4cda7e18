/* Refuses pages of more than a hundred entries, and reads only the digits at the beginning of a number. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <string.h>

#include "host.h"

static const char name[] = "\"first\":";

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view json = {NULL, 0};
  if (host->field_get(call, CRB_PART_VARIABLES, &json) != CRB_OK || !json.len) return CRB_CONTINUE;
  const uint8_t *found = memmem(json.ptr, json.len, name, sizeof name - 1);
  if (!found) return CRB_CONTINUE;
  unsigned count = 0;
  for (size_t i = (size_t)(found - json.ptr) + sizeof name - 1; i < json.len && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++) {
    if (count <= 100) count = count * 10 + json.ptr[i] - '0';
  }
  if (count <= 100) return CRB_CONTINUE;
  const crb_error error = {.size = sizeof error, .http_status = 400, .message = text("ask for at most a hundred entries")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE NULL
#define NEEDS CRB_PART_VARIABLES
#include "sound.h"
