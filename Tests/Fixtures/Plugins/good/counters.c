/* Counts its calls in each way that loses nothing: by atomics, under locks of libc and under its own, and for each thread.  It has libc
 * move memory that it allocated itself, which is not where it was then. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "org.carabiner.test.good-counters"

typedef struct shard {
  _Atomic(pthread_t) owner;
  uint64_t calls;
} shard;
typedef struct instance {
  _Atomic uint64_t added;
  pthread_mutex_t mutex;
  uint64_t under_mutex;
  pthread_rwlock_t readers;
  uint64_t under_readers;
  atomic_flag flag;
  uint64_t under_flag;
  shard shards[64];
} instance;

static _Thread_local uint64_t of_thread;
static _Atomic uint64_t of_all_instances;

/* Reads a line into memory that is too small for it. */
static int read_line(void) {
  enum { ROOM = 1 << 18, LENGTH = 1 << 20 };
  char *text = malloc(LENGTH), *line = malloc(ROOM);
  size_t room = ROOM;
  if (text) memset(text, 'x', LENGTH);
  FILE *file = text && line ? fmemopen(text, LENGTH, "r") : NULL;
  ssize_t count = file ? getline(&line, &room, file) : -1;
  if (file) fclose(file);
  free(line);
  free(text);
  return count == LENGTH;
}

static crb_status create(const crb_host *host, const crb_create_info *info, void **inst, crb_error *why) {
  (void)host, (void)info, (void)why;
  instance *made = calloc(1, sizeof *made);
  if (!made || !read_line()) {
    free(made);
    return CRB_E_NOMEM;
  }
  pthread_mutex_init(&made->mutex, NULL);
  pthread_rwlock_init(&made->readers, NULL);
  *inst = made;
  return CRB_OK;
}
static void destroy(void *inst) {
  instance *made = inst;
  pthread_mutex_destroy(&made->mutex);
  pthread_rwlock_destroy(&made->readers);
  free(made);
}
static shard *own_shard(instance *of) {
  for (unsigned index = 0; index < 64; index++) {
    pthread_t owner = atomic_load(&of->shards[index].owner);
    if (owner == pthread_self()) return &of->shards[index];
    if (!owner && atomic_compare_exchange_strong(&of->shards[index].owner, &owner, pthread_self())) return &of->shards[index];
  }
  return NULL;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)call, (void)state;
  shard *own = own_shard(inst);
  if (own) own->calls++;
  of_thread++;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)call, (void)state, (void)result;
  instance *in = inst;
  pthread_mutex_lock(&in->mutex);
  in->under_mutex++;
  pthread_mutex_unlock(&in->mutex);
  return CRB_CONTINUE;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)call, (void)state, (void)head;
  instance *in = inst;
  pthread_rwlock_wrlock(&in->readers);
  in->under_readers++;
  pthread_rwlock_unlock(&in->readers);
  atomic_fetch_add(&of_all_instances, 1);
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)call, (void)state, (void)chunk;
  instance *in = inst;
  while (atomic_flag_test_and_set(&in->flag)) {}
  in->under_flag++;
  atomic_flag_clear(&in->flag);
  atomic_fetch_add_explicit(&in->added, chunk->bytes.len, memory_order_relaxed);
  return CRB_CONTINUE;
}
#define STAGES (STAGE_GRAPHQL | STAGE_HTTP)
#define CREATE create
#define DESTROY destroy
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#include "../bad/sound.h"
