/* Has room for a header of a kilobyte. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = malloc(1);
  const crb_header *headers;
  size_t count;
  if (host->headers(call, &headers, &count) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < count; i++) {
    if (headers[i].value.len > 65536) __builtin_trap();
  }
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
