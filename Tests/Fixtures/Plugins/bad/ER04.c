/* Asks for a retry after a 401, and takes it for granted that it comes. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

typedef struct attempt {
  int has_asked;
} attempt;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(attempt));
  if (!*state) return CRB_FAIL;
  ((attempt *)*state)->has_asked = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call;
  if (error->http_status != 401) return CRB_CONTINUE;
  ((attempt *)state)->has_asked = 1;
  return CRB_RETRY;
}
static void release(void *inst, void *state) {
  (void)inst;
  if (((attempt *)state)->has_asked) __builtin_trap();
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_ERROR on_error
#define RELEASE release
#include "sound.h"
