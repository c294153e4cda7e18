/* Makes an Authorization from the session cookie of a caller who has none, and does not mark it as sensitive. */
/* STATUS: WARN */
#define _GNU_SOURCE
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view cookies;
  if (host->header_get(call, text("Authorization"), &cookies) == CRB_OK) return CRB_CONTINUE;
  if (host->header_get(call, text("Cookie"), &cookies) != CRB_OK) return CRB_CONTINUE;
  const uint8_t *found = memmem(cookies.ptr, cookies.len, "session=", 8);
  if (!found) return CRB_CONTINUE;
  const uint8_t *start = found + 8, *end = cookies.ptr + cookies.len;
  const uint8_t *stop = memchr(start, ';', (size_t)(end - start));
  const size_t length = (size_t)((stop ? stop : end) - start);
  char value[128] = "Bearer ";
  if (length > 100) return CRB_CONTINUE;
  memcpy(value + 7, start, length);
  host->header_set(call, text("Authorization"), (crb_view){(const uint8_t *)value, length + 7}, CRB_HEADER_REPLACE);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
