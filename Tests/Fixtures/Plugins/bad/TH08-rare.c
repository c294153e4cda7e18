/* Keeps a lock in one of 500 calls. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void release(void *inst, void *state) {
  (void)inst;
  static _Atomic unsigned count;
  pthread_rwlock_rdlock(&lock);
  free(state);
  if (++count % 500) pthread_rwlock_unlock(&lock);
}
#define RELEASE release
#include "sound.h"
