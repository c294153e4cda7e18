/* Takes two locks in one order for requests, and in the other for results. */
#include <carabiner.h>
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static crb_verdict locked(pthread_mutex_t *outer, pthread_mutex_t *inner) {
  pthread_mutex_lock(outer);
  /* In the order that could block forever it only tries, so that the other checks end. */
  if (outer == &first) pthread_mutex_lock(inner);
  else {
    struct timespec soon = {0, 0};
    if (pthread_mutex_timedlock(inner, &soon) != 0) {
      pthread_mutex_unlock(outer);
      return CRB_CONTINUE;
    }
  }
  pthread_mutex_unlock(inner);
  pthread_mutex_unlock(outer);
  return CRB_CONTINUE;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return locked(&first, &second);
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  return locked(&second, &first);
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
