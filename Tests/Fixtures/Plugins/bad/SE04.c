/* Takes an operation without a name for an error. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  crb_view name;
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) == CRB_OK) return CRB_CONTINUE;
  crb_error error = {.size = sizeof error, .code = 1, .message = text("no name")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
