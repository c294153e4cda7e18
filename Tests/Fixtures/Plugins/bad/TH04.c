/* Frees memory in on_cancel that its hooks use. */
/* STATUS: CRASH */
/* ONLY: TH04 */
#include <carabiner.h>
#include <stdlib.h>
#include <time.h>

#include "host.h"

typedef struct {
  _Atomic int *volatile count;
} counting;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) {
    counting *c = calloc(1, sizeof *c);
    if (!c) return CRB_E_NOMEM;
    *state = c;
    c->count = calloc(1, sizeof *c->count);
  }
  return ((counting *)*state)->count ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)result;
  counting *c = state;
  /* Long enough to be cancelled meanwhile.  Sleeping leaves the processor to the thread that cancels, on a busy machine too.
     There it may take over 100 ms, which is why no other check runs this plugin: it would break TH06. */
  if (host->operation_type(call) != CRB_OPERATION_SUBSCRIPTION) return CRB_CONTINUE;
  struct timespec nap = {.tv_nsec = 1000000};
  for (int i = 0; i < 40; i++) {
    nanosleep(&nap, NULL);
    ++*c->count;
  }
  return CRB_CONTINUE;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  counting *c = state;
  if (!c) return;
  free((void *)c->count);
  c->count = NULL;
}
static void release(void *inst, void *state) {
  (void)inst;
  free((void *)((counting *)state)->count);
  free(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_CANCEL on_cancel
#define RELEASE release
#include "sound.h"
