/* Reads a view after it has resumed the hook. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "host.h"

/* Shared by the call and its timer; the last one frees it. */
typedef struct waiting {
  atomic_int users;
  _Atomic crb_token token;
  const uint8_t *bytes;
} waiting;
static volatile uint8_t first;

static void forget(waiting *w) {
  if (atomic_fetch_sub(&w->users, 1) == 1) free(w);
}
static void fire(void *user) {
  waiting *w = user;
  const uint8_t *bytes = w->bytes;
  crb_token token = atomic_exchange(&w->token, 0);
  if (token && host->resume(token, CRB_CONTINUE) == CRB_OK && bytes) first = *bytes;
  forget(w);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  waiting *w = *state ? *state : calloc(1, sizeof *w);
  if (!w) return CRB_FAIL;
  if (!*state) atomic_store(&w->users, 1);
  *state = w;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst;
  const crb_timer_service *timer = host->query(self, "crb.timer/1");
  waiting *w = state;
  crb_token token = timer && atomic_load(&w->users) == 1 ? host->suspend(call) : 0;
  if (!token) return CRB_CONTINUE;
  /* Large ones go back to the system when they are freed. */
  w->bytes = result->data.len && result->data.len < 1024 ? result->data.ptr : NULL;
  atomic_store(&w->token, token);
  atomic_fetch_add(&w->users, 1);
  if (!timer->arm(self, 100000, fire, w)) {
    w->bytes = NULL;
    fire(w);
  }
  return CRB_PENDING;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  waiting *w = state;
  crb_token token = w ? atomic_exchange(&w->token, 0) : 0;
  if (token) host->resume(token, CRB_CONTINUE);
}
static void release(void *inst, void *state) {
  (void)inst;
  forget(state);
}
#define NEEDS CRB_PART_DATA
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_CANCEL on_cancel
#define RELEASE release
#include "sound.h"
