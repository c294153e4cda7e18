/* Lets a query wait for an equal one that is on its way, and does not wake it when that one is cancelled. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct passage {
  struct passage *next;
  crb_token token;
  size_t length;
  uint8_t document[];
} passage;
typedef struct {
  pthread_mutex_t lock;
  passage *leader, *waiting;
} flight;

/* Takes a call out of the list; its token, if it was in it. */
static crb_token leave(flight *f, passage *p) {
  for (passage **at = &f->waiting; *at; at = &(*at)->next) {
    if (*at != p) continue;
    *at = p->next;
    return p->token;
  }
  return 0;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)call;
  flight *f = inst;
  pthread_mutex_lock(&f->lock);
  crb_token token = leave(f, state);
  pthread_mutex_unlock(&f->lock);
  if (token) host->resume(token, CRB_FAIL);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  flight *f = inst;
  crb_view document;
  if (*state || host->operation_type(call) != CRB_OPERATION_QUERY) return CRB_CONTINUE;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK || !document.len) return CRB_CONTINUE;
  passage *p = *state = calloc(1, sizeof *p + document.len), *leader;
  if (!p) return CRB_E_NOMEM;
  memcpy(p->document, document.ptr, p->length = document.len);
  pthread_mutex_lock(&f->lock);
  if (!(leader = f->leader)) f->leader = p;
  else if (leader->length == p->length && memcmp(leader->document, p->document, p->length) == 0) p->token = host->suspend(call);
  int waits = p->token != 0;
  if (waits) {
    p->next = f->waiting;
    f->waiting = p;
  }
  pthread_mutex_unlock(&f->lock);
  if (waits && host->cancelled(call) == 1) on_cancel(inst, call, p);
  return waits ? CRB_PENDING : CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)call;
  flight *f = inst;
  pthread_mutex_lock(&f->lock);
  if (f->leader && f->leader == state) {
    for (passage *p = f->waiting; p; p = p->next) host->resume(p->token, CRB_CONTINUE);
    f->leader = f->waiting = NULL;
  }
  pthread_mutex_unlock(&f->lock);
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)error;
  return on_end(inst, call, state);
}
static void release(void *inst, void *state) {
  flight *f = inst;
  pthread_mutex_lock(&f->lock);
  if (f->leader == state) f->leader = NULL;
  leave(f, state);
  pthread_mutex_unlock(&f->lock);
  free(state);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  flight *f = calloc(1, sizeof *f);
  if (!f) return CRB_E_NOMEM;
  pthread_mutex_init(&f->lock, NULL);
  *inst = f;
  return CRB_OK;
}
#define NEEDS CRB_PART_DOCUMENT
#define GRAPHQL_ON_REQUEST on_request
#define ON_END on_end
#define ON_ERROR on_error
#define ON_CANCEL on_cancel
#define RELEASE release
#define CREATE create
#include "sound.h"
