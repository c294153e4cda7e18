/* Stages an answer and lets the request pass all the same. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  emit(call, CRB_EMIT_RESULT, "{\"data\":null}", 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_JSON
#include "sound.h"
