/* Fails the calls that are under way when it is drained. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(atomic_int));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static void drain(void *inst) { atomic_store((atomic_int *)inst, 1); }
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)call, (void)state, (void)result;
  return atomic_load((atomic_int *)inst) ? CRB_FAIL : CRB_CONTINUE;
}
#define CREATE create
#define DRAIN drain
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
