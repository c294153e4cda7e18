/* Waits inside of its first hook for an equal query that is on its way, for up to 400 ms. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"

enum { NANOSECONDS = 1000000000, PATIENCE = 400000000 };
typedef struct {
  size_t length;
  uint8_t document[];
} passage;
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t is_over;
  passage *leader;
} flight;

static int has_equal(const flight *f, const passage *p) {
  return f->leader && f->leader->length == p->length && memcmp(f->leader->document, p->document, p->length) == 0;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  flight *f = inst;
  crb_view document;
  if (*state || host->operation_type(call) != CRB_OPERATION_QUERY) return CRB_CONTINUE;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK || !document.len) return CRB_CONTINUE;
  passage *p = *state = malloc(sizeof *p + document.len);
  if (!p) return CRB_E_NOMEM;
  memcpy(p->document, document.ptr, p->length = document.len);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += PATIENCE;
  until.tv_sec += until.tv_nsec / NANOSECONDS;
  until.tv_nsec %= NANOSECONDS;
  pthread_mutex_lock(&f->lock);
  while (has_equal(f, p) && pthread_cond_clockwait(&f->is_over, &f->lock, CLOCK_MONOTONIC, &until) == 0) continue;
  if (!f->leader) f->leader = p;
  pthread_mutex_unlock(&f->lock);
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  flight *f = inst;
  pthread_mutex_lock(&f->lock);
  if (f->leader == state) {
    f->leader = NULL;
    pthread_cond_broadcast(&f->is_over);
  }
  pthread_mutex_unlock(&f->lock);
  free(state);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  flight *f = calloc(1, sizeof *f);
  if (!f) return CRB_E_NOMEM;
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->is_over, NULL);
  *inst = f;
  return CRB_OK;
}
#define NEEDS CRB_PART_DOCUMENT
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#define CREATE create
#include "sound.h"
