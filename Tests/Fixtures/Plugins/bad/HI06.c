/* Logs the operation name as it comes. */
/* STATUS: WARN */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  crb_view name;
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) == CRB_OK) host->log(self, CRB_LOG_INFO, call, name);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
