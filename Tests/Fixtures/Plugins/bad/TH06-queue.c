/* Gives each call to a thread that takes them every 30 ms, and waits for it when its queue is full. */
/* ONLY: TH06 */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "host.h"

enum { ROOM = 16 };
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t has_room;
  pthread_t thread;
  size_t count;
  uint64_t calls[ROOM], newest;
  int is_over;
} queue;

static void *run(void *user) {
  queue *q = user;
  const struct timespec pause = {.tv_nsec = 30000000};
  pthread_setname_np(pthread_self(), "bad-queue");
  for (int is_over = 0; !is_over;) {
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&q->lock);
    for (size_t i = 0; i < q->count; i++) q->newest = q->calls[i] > q->newest ? q->calls[i] : q->newest;
    q->count = 0;
    is_over = q->is_over;
    pthread_cond_broadcast(&q->has_room);
    pthread_mutex_unlock(&q->lock);
  }
  return NULL;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)state;
  queue *q = inst;
  pthread_mutex_lock(&q->lock);
  while (q->count == ROOM) pthread_cond_wait(&q->has_room, &q->lock);
  q->calls[q->count++] = host->request_id(call);
  pthread_mutex_unlock(&q->lock);
  return CRB_CONTINUE;
}
static void delete(queue *q) {
  pthread_cond_destroy(&q->has_room);
  pthread_mutex_destroy(&q->lock);
  free(q);
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  queue *q = calloc(1, sizeof *q);
  if (!q) return CRB_E_NOMEM;
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->has_room, NULL);
  /* The thread blocks all signals. */
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int status = pthread_create(&q->thread, NULL, run, q);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (status != 0) {
    delete(q);
    return CRB_E_NOMEM;
  }
  *inst = q;
  return CRB_OK;
}
static void destroy(void *inst) {
  queue *q = inst;
  pthread_mutex_lock(&q->lock);
  q->is_over = 1;
  pthread_mutex_unlock(&q->lock);
  pthread_join(q->thread, NULL);
  delete(q);
}
#define ON_END on_end
#define CREATE create
#define DESTROY destroy
#include "sound.h"
