/* Two things that are never there at once on a desk: a long label, and a hook on another thread than create()'s. */
/* STATUS: CRASH */
/* ARGUMENTS: --fuzz 500 */
#include <carabiner.h>
#include <pthread.h>
static pthread_t creator;
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  if (result->label.len > 2000 && !pthread_equal(creator, pthread_self())) __builtin_trap();
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  creator = pthread_self();
  *inst = NULL;
  return CRB_OK;
}
#define CREATE create
#define DESTROY NULL
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#include "sound.h"
