/* Adds an Idempotency-Key that is another one at each attempt, so that the server runs each of them. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const uint8_t digit = (uint8_t)('0' + host->attempt(call) % 10);
  const crb_status status = host->header_set(call, text("Idempotency-Key"), (crb_view){&digit, 1}, CRB_HEADER_REPLACE);
  return status == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
