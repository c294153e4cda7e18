/* Allocates for every result and keeps nothing. */
/* STATUS: WARN */
/* CFLAGS: -fno-builtin */
#include <carabiner.h>
#include <stdlib.h>

static char *volatile copy;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  char *c = malloc(64);
  free(c);
  return c ? CRB_CONTINUE : CRB_E_NOMEM;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
