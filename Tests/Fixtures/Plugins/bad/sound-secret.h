/* The rest of a plugin that reads the header Authorization of a request: the fixture defines leak(), which gets its value, of at most
 * 128 bytes. */
#ifndef MUTATES
#define MUTATES 0
#endif
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = malloc(1);
  crb_view value;
  if (host->header_get(call, text("Authorization"), &value) == CRB_OK && value.len <= 128) leak(call, value);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
