/* Releases of calls.  They wait until the control thread has done the posts before them: on_cancel comes before release(). */
#define _GNU_SOURCE
#include <stdlib.h>

#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct deferred {
  struct deferred *next;
  uint64_t id;
  uint32_t after;
} * first, **last = &first;

static void free_scratch(struct call *call) {
  if (call->scratch_until > CCrossing_now() && is_used(&call->scratch)) {
    keep_memory(&call->scratch, call->scratch_reader, call->scratch_until);
  }
  call->scratch_until = 0;
  reset_memory(&call->scratch);
}

void release_call(uint64_t id) {
  struct call *call = use_existing(id);
  if (!call) return;
  revoke_hook(call);
  if (call->instance) {
    running_library = call->instance->interceptor->library->number + 1;
    void *pointer = call->has_own ? call->own : call->instance->pointer;
    if (call->state && call->stage->release) call->stage->release(pointer, call->state);
    if (call->has_own) destroy_own(call->instance, call->own);
    running_library = 0;
  }
  call->state = call->own = NULL;
  call->has_own = 0;
  free_scratch(call);
  keep_call(call, 0);
  end_use(call);
}

static int is_due(uint32_t after) { return (int32_t)(atomic_load(&control.finished) - after) >= 0; }

int defer_release(uint64_t id) {
  uint32_t after = atomic_load(&control.down->tail);
  if (is_due(after)) return 0;
  struct deferred *deferred = malloc(sizeof *deferred);
  if (!deferred) return 0;
  *deferred = (struct deferred){NULL, id, after};
  pthread_mutex_lock(&lock);
  int waits = !is_due(after);
  if (waits) {
    *last = deferred;
    last = &deferred->next;
  }
  pthread_mutex_unlock(&lock);
  if (!waits) free(deferred);
  return waits;
}

static struct deferred *take_deferred(int all) {
  pthread_mutex_lock(&lock);
  struct deferred *taken = first && (all || is_due(first->after)) ? first : NULL;
  if (taken) {
    first = taken->next;
    if (!first) last = &first;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}

void run_deferred(int all) {
  for (struct deferred *deferred; (deferred = take_deferred(all)); free(deferred)) release_call(deferred->id);
}
