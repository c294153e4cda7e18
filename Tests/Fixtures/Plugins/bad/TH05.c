/* Sets a header when it has given the call back. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  crb_token token = host->suspend(call);
  if (!token) return CRB_CONTINUE;
  host->resume(token, CRB_CONTINUE);
  host->header_set(call, text("X-Late"), text("yes"), 0);
  return CRB_PENDING;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
