/* Sets a state and has nothing to release it. */
#include <carabiner.h>

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  static char nothing;
  (void)inst, (void)call;
  *state = &nothing;
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE NULL
#include "sound.h"
