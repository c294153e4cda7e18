/* Locks in one hook and unlocks in another. */
#include <carabiner.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (*state) return CRB_CONTINUE;
  pthread_mutex_lock(&lock);
  *state = &lock;
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  pthread_mutex_unlock(state);
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#include "sound.h"
