/* Lets 4 calls pass at once and the others wait, and leaves one that was cancelled in the list, where it is given a place. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>

#include "host.h"

enum { MOST = 4 };
/* In the list it also outlives its call. */
typedef struct passage {
  struct passage *next;
  crb_token token;
  int has_place, is_listed, is_over;
} passage;
typedef struct {
  pthread_mutex_t lock;
  int running;
  passage *first, **last;
} queue;

static void on_cancel(void *inst, crb_call call, void *state) {
  (void)call;
  queue *q = inst;
  passage *p = state;
  if (!p) return;
  pthread_mutex_lock(&q->lock);
  crb_token token = p->token;
  p->token = 0;
  pthread_mutex_unlock(&q->lock);
  if (token) host->resume(token, CRB_FAIL);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  queue *q = inst;
  if (*state) return CRB_CONTINUE;
  passage *p = *state = calloc(1, sizeof *p);
  if (!p) return CRB_E_NOMEM;
  pthread_mutex_lock(&q->lock);
  if (q->running < MOST) {
    q->running++;
    p->has_place = 1;
  } else if ((p->token = host->suspend(call))) {
    p->is_listed = 1;
    *q->last = p;
    q->last = &p->next;
  }
  crb_verdict verdict = p->has_place ? CRB_CONTINUE : p->is_listed ? CRB_PENDING : CRB_E_INTERNAL;
  pthread_mutex_unlock(&q->lock);
  if (verdict == CRB_PENDING && host->cancelled(call) == 1) on_cancel(inst, call, p);
  return verdict;
}
/* Gives the place of a call to the first one in the list. */
static void pass_on(queue *q) {
  passage *p = q->first;
  if (!p) {
    q->running--;
    return;
  }
  if (!(q->first = p->next)) q->last = &q->first;
  p->is_listed = 0;
  p->has_place = 1;
  if (p->token) host->resume(p->token, CRB_CONTINUE);
  p->token = 0;
  if (p->is_over) free(p);
}
static void release(void *inst, void *state) {
  queue *q = inst;
  passage *p = state;
  pthread_mutex_lock(&q->lock);
  if (p->has_place) pass_on(q);
  p->token = 0;
  p->is_over = 1;
  if (!p->is_listed) free(p);
  pthread_mutex_unlock(&q->lock);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  queue *q = calloc(1, sizeof *q);
  if (!q) return CRB_E_NOMEM;
  pthread_mutex_init(&q->lock, NULL);
  q->last = &q->first;
  *inst = q;
  return CRB_OK;
}
static void destroy(void *inst) {
  queue *q = inst;
  for (passage *p = q->first, *next; p; p = next) {
    next = p->next;
    free(p);
  }
  pthread_mutex_destroy(&q->lock);
  free(q);
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_CANCEL on_cancel
#define RELEASE release
#define CREATE create
#define DESTROY destroy
#include "sound.h"
