/* Takes a view for a C string. */
#include <carabiner.h>
#include <string.h>

static volatile size_t length;
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  length = result->json.ptr ? strlen((const char *)result->json.ptr) : 0;
  return CRB_CONTINUE;
}
#define NEEDS CRB_PART_JSON
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
