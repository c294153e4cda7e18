/* Refuses operations without a name, with an error whose size is not set. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view name = {NULL, 0};
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) == CRB_OK && name.len) return CRB_CONTINUE;
  const crb_error error = {.http_status = 400, .message = text("give the operation a name")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE NULL
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
