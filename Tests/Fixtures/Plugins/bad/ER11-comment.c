/* Takes an operation for a mutation only if its document begins with that word, and sends all others again. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct {
  int has_result;
} progress;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(progress));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)result;
  ((progress *)state)->has_result = 1;
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst;
  crb_view document;
  if (((const progress *)state)->has_result || host->attempt(call) >= 1) return CRB_CONTINUE;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK) return CRB_CONTINUE;
  if (document.len >= 8 && memcmp(document.ptr, "mutation", 8) == 0) return CRB_CONTINUE;
  return host->set_retry(call, CRB_RETRY_CHAIN, error->retry_after_ns) == CRB_OK ? CRB_RETRY : CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_ERROR on_error
#define NEEDS CRB_PART_DOCUMENT
#include "sound.h"
