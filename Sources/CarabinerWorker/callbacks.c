/* Requests to the host: only it can check a URL, send a request, or write a log. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "worker.h"

/* Nanoseconds to wait for a free callback, and between two checks. */
#define PATIENCE UINT64_C(1000000000)
#define NAP UINT64_C(100000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generations[CCROSSING_CALLBACKS];
/* The space of the messages, and which callbacks this side uses. */
static uint32_t blocks[CCROSSING_CALLBACKS], lengths[CCROSSING_CALLBACKS];
static uint8_t is_used_here[CCROSSING_CALLBACKS];

void lock_control(void) { pthread_mutex_lock(&lock); }
void unlock_control(void) { pthread_mutex_unlock(&lock); }

static int is_free(uint32_t place) {
  return !is_used_here[place] &&
         atomic_load_explicit(&control.down->replies[place].answered, memory_order_acquire) == generations[place];
}

/* Under the lock: frees the messages of answered callbacks, and finds a free place. */
static uint32_t find_place(void) {
  uint32_t found = CCROSSING_CALLBACKS;
  for (uint32_t place = 0; place < CCROSSING_CALLBACKS; place++) {
    if (!is_free(place)) continue;
    if (lengths[place]) CCrossing_give(&control.space, blocks[place], lengths[place]);
    lengths[place] = 0;
    if (found == CCROSSING_CALLBACKS) found = place;
  }
  return found;
}

/* Under the lock: returns CCROSSING_CALLBACKS if there is no place or no room. */
static uint32_t post(uint16_t request, uint32_t instance, uint32_t argument, uint64_t number, const struct records *message) {
  uint32_t place = find_place();
  if (place == CCROSSING_CALLBACKS) return place;
  uint32_t block = message->length ? CCrossing_take(&control.space, message->length) : 0;
  if (block == UINT32_MAX) return CCROSSING_CALLBACKS;
  if (message->length) memcpy(CCrossing_arena(control.up, block), message->bytes, message->length);
  blocks[place] = block;
  lengths[place] = (uint32_t)message->length;
  struct CCrossing_callback *to = &control.up->callbacks[place];
  to->request = request;
  to->zero = 0;
  to->instance = instance;
  to->argument = argument;
  to->number = number;
  to->block = block;
  to->length = (uint32_t)message->length;
  if (++generations[place] == 0) generations[place] = 1;
  is_used_here[place] = 1;
  atomic_store(&to->asked, generations[place]);
  return place;
}

static void done_with(uint32_t place) {
  pthread_mutex_lock(&lock);
  is_used_here[place] = 0;
  pthread_mutex_unlock(&lock);
}

crb_status ask(uint16_t request, uint32_t instance, uint32_t argument, uint64_t number, const struct records *message, int waits) {
  if (message->length > UINT32_MAX / 2) return CRB_E_LIMIT;
  uint64_t end = CCrossing_now() + PATIENCE;
  uint32_t place, generation;
  for (;;) {
    pthread_mutex_lock(&lock);
    place = post(request, instance, argument, number, message);
    generation = place < CCROSSING_CALLBACKS ? generations[place] : 0;
    pthread_mutex_unlock(&lock);
    if (generation) break;
    if (CCrossing_now() >= end) return CRB_E_LIMIT;
    nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
  }
  ring_bell();
  if (!waits) {
    done_with(place);
    return CRB_OK;
  }
  const struct CCrossing_reply *reply = &control.down->replies[place];
  for (uint32_t answered; (answered = atomic_load(&reply->answered)) != generation;) CCrossing_sleep(&reply->answered, answered, UINT64_MAX);
  crb_status status = reply->status;
  done_with(place);
  return status;
}
