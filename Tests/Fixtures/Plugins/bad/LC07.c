/* Cannot be drained before it has seen a call. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef _Atomic(const char *) last_call;
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(last_call));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)call, (void)state;
  atomic_store((last_call *)inst, "a call");
  return CRB_CONTINUE;
}
static volatile char first;
static void drain(void *inst) { first = *(const volatile char *)atomic_load((last_call *)inst); }
#define CREATE create
#define DRAIN drain
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
