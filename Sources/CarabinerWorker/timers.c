/* crb.timer/1: timers in a heap by their time.  They fire on the control thread. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/random.h>

#include "worker.h"

struct timer {
  uint64_t time, number; /* timers of one time fire in the order in which they were armed */
  uint32_t secret, place; /* in the heap, + 1; 0: it is free */
  uint32_t next_free;
  uint32_t library;
  void (*fire)(void *user);
  void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *timers; /* made once for all, so that their places stay; pages that no timer used do not exist */
static uint32_t *heap, count, made, first_free;
static uint64_t numbers;

static int is_before(uint32_t one, uint32_t other) {
  const struct timer *first = &timers[one], *second = &timers[other];
  return first->time != second->time ? first->time < second->time : first->number < second->number;
}

static void put(uint32_t place, uint32_t index) {
  heap[place] = index;
  timers[index].place = place + 1;
}

static void rise(uint32_t place, uint32_t index) {
  for (; place > 0 && is_before(index, heap[(place - 1) / 2]); place = (place - 1) / 2) put(place, heap[(place - 1) / 2]);
  put(place, index);
}

static void sink(uint32_t place, uint32_t index) {
  for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
    if (child + 1 < count && is_before(heap[child + 1], heap[child])) child++;
    if (!is_before(heap[child], index)) break;
    put(place, heap[child]);
  }
  put(place, index);
}

static void remove_timer(uint32_t index) {
  uint32_t place = timers[index].place - 1, last = heap[--count];
  timers[index].place = 0;
  timers[index].secret = 0;
  timers[index].next_free = first_free;
  first_free = index + 1;
  if (last == index) return;
  sink(place, last);
  rise(timers[last].place - 1, last);
}

/* Under the lock.  Returns MOST_TIMERS if there are too many. */
static uint32_t find_free(void) {
  if (!timers) timers = calloc(MOST_TIMERS, sizeof *timers);
  if (!heap) heap = calloc(MOST_TIMERS, sizeof *heap);
  if (!timers || !heap) return MOST_TIMERS;
  if (!first_free) return made < MOST_TIMERS ? made++ : MOST_TIMERS;
  uint32_t index = first_free - 1;
  first_free = timers[index].next_free;
  return index;
}

static crb_timer arm(crb_self who, uint64_t delay_ns, void (*fire)(void *user), void *user) {
  struct member member;
  if (!fire || !find_self(who, &member)) return 0;
  uint64_t now = CCrossing_now(), time = delay_ns > INT64_MAX - now ? INT64_MAX : now + delay_ns;
  uint32_t secret = 0;
  /* So that another plugin cannot guess the timer: cancel() does not check its caller. */
  while (secret == 0) {
    if (getrandom(&secret, sizeof secret, 0) != sizeof secret) return 0;
  }
  pthread_mutex_lock(&lock);
  uint32_t index = find_free();
  int is_first = 0;
  if (index < MOST_TIMERS) {
    timers[index] = (struct timer){.time = time, .number = numbers++, .secret = secret, .library = member.library, .fire = fire, .user = user};
    rise(count++, index);
    is_first = heap[0] == index;
  }
  pthread_mutex_unlock(&lock);
  if (is_first) wake_control();
  return index < MOST_TIMERS ? (uint64_t)secret << 32 | (index + 1) : 0;
}

static crb_status cancel(crb_timer timer) {
  uint32_t index = (uint32_t)timer - 1, secret = (uint32_t)(timer >> 32);
  pthread_mutex_lock(&lock);
  int is_armed = secret && index < made && timers[index].secret == secret && timers[index].place;
  if (is_armed) remove_timer(index);
  pthread_mutex_unlock(&lock);
  return is_armed ? CRB_OK : CRB_E_STALE;
}

uint64_t fire_timers(uint64_t now) {
  for (;;) {
    pthread_mutex_lock(&lock);
    uint64_t next = count > 0 ? timers[heap[0]].time : UINT64_MAX;
    struct timer due = {0};
    if (next <= now) {
      due = timers[heap[0]];
      remove_timer(heap[0]);
    }
    pthread_mutex_unlock(&lock);
    if (next > now) return next;
    running_library = due.library;
    due.fire(due.user);
    running_library = 0;
  }
}

const crb_timer_service timer_service = {.size = sizeof timer_service, .now_ns = CCrossing_now, .arm = arm, .cancel = cancel};
