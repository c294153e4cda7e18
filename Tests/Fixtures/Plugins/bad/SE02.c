/* Sets a header and has declared nothing. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  host->header_set(call, text("X-Added"), text("yes"), 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
