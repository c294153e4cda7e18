/* Sets a request header when the result is there. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state, (void)result;
  host->header_set(call, text("X-Late"), text("yes"), 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
