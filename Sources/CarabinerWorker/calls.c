/* The table of calls. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "worker.h"

enum { BUCKETS = 1 << 14, CHUNK = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call *buckets[BUCKETS], *unused;
/* Records are made in chunks and never freed. */
static _Atomic(struct call *) chunks[MOST_CALLS / CHUNK];
static uint32_t count;

_Thread_local struct call *running_call;

static struct call **bucket_of(uint64_t id) { return &buckets[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 50]; }

static struct call *look_up(uint64_t id) {
  struct call *call = *bucket_of(id);
  while (call && atomic_load_explicit(&call->id, memory_order_relaxed) != id) call = call->next;
  return call;
}

struct call *call_at(uint32_t index) {
  struct call *chunk = index < MOST_CALLS ? atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire) : NULL;
  return chunk ? &chunk[index % CHUNK] : NULL;
}

static int make_chunk(void) {
  struct call *chunk = count < MOST_CALLS ? calloc(CHUNK, sizeof *chunk) : NULL;
  if (!chunk) return 0;
  for (uint32_t index = 0; index < CHUNK; index++) {
    chunk[index].index = count + index;
    chunk[index].next = unused;
    unused = &chunk[index];
  }
  atomic_store_explicit(&chunks[count / CHUNK], chunk, memory_order_release);
  count += CHUNK;
  return 1;
}

static void lock_functions(struct call *call) {
  while (atomic_exchange(&call->busy, 1)) sched_yield();
}

static struct call *make(uint64_t id) {
  if (!unused && !make_chunk()) return NULL;
  struct call *call = unused;
  unused = call->next;
  call->is_kept = call->users = 0;
  call->state = call->own = NULL;
  call->has_own = 0;
  call->instance = NULL;
  call->snapshot = NULL;
  atomic_store_explicit(&call->is_cancelled, 0, memory_order_relaxed);
  atomic_store_explicit(&call->deadline, UINT64_MAX, memory_order_relaxed);
  atomic_store_explicit(&call->attempt, 0, memory_order_relaxed);
  atomic_store_explicit(&call->operation_type, 0, memory_order_relaxed);
  atomic_store_explicit(&call->request_id, 0, memory_order_relaxed);
  struct call **bucket = bucket_of(id);
  call->next = *bucket;
  *bucket = call;
  atomic_store_explicit(&call->id, id, memory_order_release);
  return call;
}

static void forget(struct call *call) {
  struct call **place = bucket_of(atomic_load_explicit(&call->id, memory_order_relaxed));
  while (*place != call) place = &(*place)->next;
  *place = call->next;
  /* A function of the host that has begun ends first. */
  lock_functions(call);
  atomic_store_explicit(&call->id, 0, memory_order_release);
  leave(call);
  call->next = unused;
  unused = call;
}

struct call *begin_use(uint64_t id) {
  pthread_mutex_lock(&lock);
  struct call *call = look_up(id);
  if (!call) call = make(id);
  if (call) call->users++;
  pthread_mutex_unlock(&lock);
  return call;
}

struct call *use_existing(uint64_t id) {
  pthread_mutex_lock(&lock);
  struct call *call = look_up(id);
  if (call) call->users++;
  pthread_mutex_unlock(&lock);
  return call;
}

void end_use(struct call *call) {
  pthread_mutex_lock(&lock);
  if (--call->users == 0 && !call->is_kept) forget(call);
  pthread_mutex_unlock(&lock);
}

void finish_use(struct call *call, int is_kept) {
  pthread_mutex_lock(&lock);
  call->is_kept = (uint32_t)is_kept;
  if (--call->users == 0 && !is_kept) forget(call);
  pthread_mutex_unlock(&lock);
}

void keep_call(struct call *call, int is_kept) {
  pthread_mutex_lock(&lock);
  call->is_kept = (uint32_t)is_kept;
  pthread_mutex_unlock(&lock);
}

struct call *find_call(crb_call handle) {
  if (handle == 0) return NULL;
  struct call *call = running_call;
  if (call && atomic_load_explicit(&call->id, memory_order_relaxed) == handle) return call;
  pthread_mutex_lock(&lock);
  call = look_up(handle);
  pthread_mutex_unlock(&lock);
  return call;
}

struct call *enter(crb_call handle, crb_status *status) {
  struct call *call = find_call(handle);
  *status = CRB_E_STALE;
  if (!call) return NULL;
  *status = CRB_E_THREAD;
  if (atomic_exchange(&call->busy, 1)) return NULL;
  *status = CRB_OK;
  if (atomic_load(&call->id) != handle) *status = CRB_E_STALE;
  else if (atomic_load(&call->phase) == 0) *status = CRB_E_STATE;
  if (*status == CRB_OK) return call;
  leave(call);
  return NULL;
}

void close_hook(struct call *call) {
  atomic_store(&call->phase, 0);
  while (atomic_load(&call->busy)) sched_yield();
}

/* Takes the memory of a revoked hook out of the call.  Its plugin may read it until it resumes, at most for READING_TIME. */
static void abandon(struct call *call, uint32_t generation) {
  crb_token reader = (uint64_t)(call->index + 1) << 32 | generation;
  uint64_t until = CCrossing_now() + READING_TIME;
  close_hook(call);
  if (is_used(&call->views)) keep_memory(&call->views, reader, until);
  call->scratch_reader = reader;
  call->scratch_until = until;
  reset_edits(&call->edits);
  reset_earlier(&call->earlier);
  call->view = NULL;
  call->snapshot = NULL;
}

int revoke_hook(struct call *call) {
  for (;;) {
    uint64_t word = atomic_load(&call->token);
    uint32_t state = token_state(word), generation = token_generation(word);
    if (state == TOKEN_FREE) return 0;
    if (state == TOKEN_ENDING) {
      sched_yield();
      continue;
    }
    if (!atomic_compare_exchange_strong(&call->token, &word, pack_token(generation, 0, TOKEN_ENDING))) continue;
    abandon(call, generation);
    /* The host has no answer that says so. */
    keep_call(call, 1);
    atomic_store(&call->token, pack_token(generation, 0, TOKEN_FREE));
    end_use(call); /* of the pending hook */
    return 1;
  }
}
