/* Keeps the handle of the call and uses it when the call is over. */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  crb_call *kept = *state ? *state : malloc(sizeof *kept);
  if (kept) *kept = call;
  *state = kept;
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  crb_view id;
  host->header_get(*(crb_call *)state, (crb_view){(const uint8_t *)"X-Id", 4}, &id);
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#include "sound.h"
