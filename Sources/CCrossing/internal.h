#ifndef CCROSSING_INTERNAL_H
#define CCROSSING_INTERNAL_H

#include "crossing.h"

/* More spins than that, some 100 us, cost more than a sleep.  Between two processors of a virtual machine a wake takes 20 to 50
 * us.  Every 32nd wait spins as long, because a side that sleeps learns only then that the other one answers sooner than a wake. */
enum { CCROSSING_MOST_SPINS = 4000, CCROSSING_PROBE = 32 };

static inline void CCrossing_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* The budget after the other side answered within `spins`, and after it did not.  One long spin that was right is enough to spin as long
 * the next time. */
static inline uint32_t CCrossing_learnt(uint32_t budget, uint32_t spins) {
  uint32_t next = (7 * budget + 4 * spins + 64) / 8, again = 2 * spins + 64;
  if (next < again) next = again;
  return next < CCROSSING_MOST_SPINS ? next : CCROSSING_MOST_SPINS;
}
static inline uint32_t CCrossing_unlearnt(uint32_t budget) { return budget * 3 / 4 + 8; }

/* On a crowded machine, a side gives its processor to others so often before it sleeps.  If the other side is ready to run on the same
 * processor, each then does its work without a call that wakes the other one.  Beside a busy thread of another program, a side that gave
 * its processor away may get it back after 4 ms only, so a single request does not do that. */
enum { CCROSSING_HOST_YIELDS = 3, CCROSSING_LANE_YIELDS = 2 };

static inline int CCrossing_isCrowded(const struct CCrossing_down *down) {
  return (int)atomic_load_explicit(&down->isCrowded, memory_order_relaxed);
}

/* Whether a spin would stop the other side: it last ran here, or all processors have work. */
static inline int CCrossing_isHere(const struct CCrossing_down *down, const _Atomic uint32_t *other, uint32_t mine) {
  return CCrossing_isCrowded(down) || atomic_load_explicit(other, memory_order_relaxed) == mine;
}

/* How often to look before a sleep. `waits` counts the waits of a thread. */
static inline uint32_t CCrossing_spins(uint32_t budget, uint32_t *waits) {
  return (*waits)++ % CCROSSING_PROBE == 0 || budget > CCROSSING_MOST_SPINS ? CCROSSING_MOST_SPINS : budget;
}

/* The processor of this thread. */
uint32_t CCrossing_processor(void);

#endif
