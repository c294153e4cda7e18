/* A host of a worker, for tests: it trusts the worker. */
#ifndef WORKER_TEST_HOST_H
#define WORKER_TEST_HOST_H

#include <carabiner.h>
#include <pthread.h>
#include <sys/types.h>

#include "crossing.h"

enum { ARENA = 16 << 20, MOST_PAIRS = 5 };

struct pair {
  struct CCrossing_down *down;
  const struct CCrossing_up *up;
  struct CCrossing_space space;
  pthread_mutex_t lock;
  uint32_t tail, generation;
  uint32_t budget;
  struct slot {
    int is_used;
    uint32_t generation, block, length;
  } slots[CCROSSING_SLOTS];
};

struct host {
  pid_t pid;
  int bell, output;
  pthread_t reader; /* of the output */
  uint32_t lanes;
  struct pair pairs[MOST_PAIRS];
  _Atomic uint64_t fetch, store; /* the numbers of requests that came; 0: none */
  _Atomic uint32_t lines, keys, callbacks, deinits;
};

/* What a worker answered; `bytes` is a copy. */
struct result {
  int32_t verdict;
  int was_pending, is_kept;
  uint64_t nanoseconds;
  uint8_t *bytes;
  uint32_t length;
};

/* Starts a worker with these plugins, and a thread that answers callbacks. */
void start(struct host *host, const char *worker, uint32_t lanes, char *const *plugins, uint32_t count);
/* Ends it with SHUTDOWN.  Returns its wait status. */
int stop(struct host *host);

/* Posts, with a slot unless the operation has none.  Returns the slot. */
uint32_t post(struct host *host, uint32_t pair, uint16_t operation, uint16_t kind, uint32_t instance, uint64_t call, const void *message,
              uint32_t length);
void post_without_slot(struct host *host, uint32_t pair, uint16_t operation, uint32_t instance, uint64_t call, uint32_t generation);
/* Waits for the answer; if `until_pending`, at most until the hook is pending. */
struct result await_answer(struct host *host, uint32_t pair, uint32_t slot, int until_pending);

/* Messages. */
struct message {
  uint8_t bytes[4096];
  uint32_t length;
};
void add(struct message *message, uint16_t kind, uint32_t a, uint32_t b, uint64_t number, const char *name, const char *value);
/* The snapshot of on_request with the header Do, or of on_result. */
void request(struct message *message, const char *what);
void show_result(struct message *message, const char *json);
/* The value of the first record of a kind, and with this name; NULL if there is none. */
const char *value_of(const struct result *result, uint16_t kind, const char *name, struct CCrossing_record *copy);

#endif
