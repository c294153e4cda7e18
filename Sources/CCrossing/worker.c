#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "internal.h"

void *CCrossing_map(int descriptor, uint64_t arena, int isDown) {
  void *map = mmap(NULL, CCROSSING_ARENA + (size_t)arena, isDown ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return map == MAP_FAILED ? NULL : map;
}

static int has_post(const struct CCrossing_down *down, uint32_t begun) {
  return atomic_load_explicit(&down->tail, memory_order_acquire) != begun;
}

/* Returns 1 if there is a post. */
static int wait_for_post(const struct CCrossing_down *down, struct CCrossing_up *up, uint32_t begun, uint64_t until,
                         const _Atomic uint32_t *attention, uint32_t *budget) {
  uint32_t mine = CCrossing_processor();
  atomic_store_explicit(&up->processor, mine, memory_order_relaxed);
  static _Thread_local uint32_t waits;
  int isHere = CCrossing_isHere(down, &down->processor, mine);
  uint32_t spins = isHere ? 0 : CCrossing_spins(*budget, &waits);
  for (uint32_t index = 0; index < spins; index++, CCrossing_pause()) {
    if (has_post(down, begun)) {
      *budget = CCrossing_learnt(*budget, index);
      return 1;
    }
    if (atomic_load_explicit(attention, memory_order_relaxed)) return 0;
  }
  if (!isHere) *budget = CCrossing_unlearnt(*budget);
  for (unsigned yields = CCrossing_isCrowded(down) ? CCROSSING_LANE_YIELDS : 0; yields > 0; yields--) {
    sched_yield();
    if (has_post(down, begun)) return 1;
    if (atomic_load_explicit(attention, memory_order_relaxed)) return 0;
  }
  uint64_t now = until == UINT64_MAX ? 0 : CCrossing_now();
  if (now >= until) return has_post(down, begun);
  atomic_store(&up->sleeps, 1);
  if (atomic_load(&down->tail) == begun && !atomic_load(attention)) {
    CCrossing_sleep(&down->tail, begun, until == UINT64_MAX ? until : until - now);
  }
  atomic_store(&up->sleeps, 0);
  return has_post(down, begun);
}

int CCrossing_next(const struct CCrossing_down *down, struct CCrossing_up *up, uint32_t begun, uint64_t until,
                   const _Atomic uint32_t *attention, uint32_t *budget, struct CCrossing_post *post) {
  if (!has_post(down, begun) && !wait_for_post(down, up, begun, until, attention, budget)) return 0;
  *post = down->ring[begun % CCROSSING_RING];
  atomic_store_explicit(&up->begun, begun + 1, memory_order_release);
  return 1;
}

void CCrossing_attend(const struct CCrossing_down *down, const struct CCrossing_up *up, _Atomic uint32_t *attention) {
  enum { YIELDS = 64, NAP = 20000 };
  atomic_store(attention, 1);
  /* A wake before the sleep is lost: again, until the lane has left its sleep. */
  for (unsigned tries = 0; atomic_load(&up->sleeps) && atomic_load(attention); tries++) {
    if (CCrossing_wake(&down->tail)) return;
    if (tries < YIELDS) sched_yield();
    else nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
  }
}

/* Returns whether the bell must be rung. */
static int change(const struct CCrossing_down *down, struct CCrossing_up_slot *to, uint32_t slot, uint32_t generation, uint32_t state) {
  atomic_store(&to->state, state);
  const struct CCrossing_down_slot *wish = &down->slots[slot];
  if (atomic_load(&wish->sleeps) == generation) CCrossing_wake(&to->state);
  return atomic_load(&wish->announce) == generation;
}

int CCrossing_publish(const struct CCrossing_down *down, struct CCrossing_up *up, const struct CCrossing_post *post,
                      const struct CCrossing_answer *answer) {
  struct CCrossing_up_slot *to = &up->slots[post->slot];
  to->verdict = answer->verdict;
  to->flags = answer->flags;
  to->block = answer->block;
  to->length = answer->length;
  to->nanoseconds = answer->nanoseconds;
  to->began = answer->began;
  return change(down, to, post->slot, post->generation, 2 * post->generation + 1);
}

int CCrossing_pend(const struct CCrossing_down *down, struct CCrossing_up *up, const struct CCrossing_post *post) {
  return change(down, &up->slots[post->slot], post->slot, post->generation, 2 * post->generation);
}

int CCrossing_refuse(struct CCrossing_up *up, int64_t number, uint64_t address) {
  struct CCrossing_refusals *refusals = &up->refusals;
  uint32_t place = number >= 0 && number < CCROSSING_CALL_NUMBERS ? (uint32_t)number : CCROSSING_CALL_NUMBERS;
  uint64_t none = 0;
  atomic_compare_exchange_strong(&refusals->addresses[place], &none, address);
  if (atomic_fetch_add(&refusals->counts[place], 1) != 0) return 0;
  atomic_fetch_add(&refusals->kinds, 1);
  return 1;
}

void CCrossing_addLine(struct CCrossing_up *up, uint32_t generation, const uint8_t *line, size_t length) {
  struct CCrossing_lines *lines = &up->lines;
  uint32_t used = atomic_load(&lines->generation) == generation ? atomic_load(&lines->length) : 0;
  if (length > CCROSSING_LINES - 1) length = CCROSSING_LINES - 1;
  if (used + length + 1 > CCROSSING_LINES) used = 0;
  atomic_store(&lines->length, 0);
  memcpy(lines->bytes + used, line, length);
  lines->bytes[used + length] = '\n';
  atomic_store(&lines->generation, generation);
  atomic_store(&lines->length, used + (uint32_t)length + 1);
}
