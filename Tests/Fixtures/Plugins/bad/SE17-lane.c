/* Keeps the lane of a request in the instance while the request waits, and sends it with the lane of the one that came last. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "host.h"

/* The lane of the instance. */
typedef const char *lane;
/* Shared by the call and its timers; the last one frees it. */
typedef struct waiting {
  atomic_int users;
  crb_call call;
  _Atomic(crb_token) token;
  lane *place;
} waiting;

static void forget(waiting *w) {
  if (atomic_fetch_sub(&w->users, 1) == 1) free(w);
}
static void fire(void *user) {
  waiting *w = user;
  const crb_token token = atomic_exchange(&w->token, 0);
  if (token) {
    const crb_status status = host->header_set(w->call, text("X-Lane"), text(*w->place), CRB_HEADER_REPLACE);
    host->resume(token, status == CRB_OK ? CRB_CONTINUE : CRB_FAIL);
  }
  forget(w);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const crb_timer_service *timer = host->query(self, "crb.timer/1");
  waiting *w = *state ? *state : calloc(1, sizeof *w);
  if (!w) return CRB_E_NOMEM;
  if (!*state) atomic_store(&w->users, 1);
  *state = w;
  w->call = call;
  w->place = inst;
  *w->place = host->operation_type(call) == CRB_OPERATION_QUERY ? "read" : "write";
  const crb_token token = timer ? host->suspend(call) : 0;
  if (!token) return CRB_E_LIMIT;
  atomic_store(&w->token, token);
  atomic_fetch_add(&w->users, 1);
  if (!timer->arm(self, 2000000, fire, w)) fire(w);
  return CRB_PENDING;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  waiting *w = state;
  const crb_token token = w ? atomic_exchange(&w->token, 0) : 0;
  if (token) host->resume(token, CRB_FAIL);
}
static void release(void *inst, void *state) {
  (void)inst;
  forget(state);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(lane));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_CANCEL on_cancel
#define RELEASE release
#define CREATE create
#define THREADS CRB_THREADS_SERIAL
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
