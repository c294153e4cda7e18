#ifndef CCROSSING_INTERNAL_H
#define CCROSSING_INTERNAL_H

#include "crossing.h"

/* More spins than that, some 100 us, cost more than a sleep. Between two processors of a virtual machine a wake takes 20 to 50 us. Every
 * 32nd wait spins as long: a side that sleeps learns only so that the other one is sooner there than a wake. */
enum { CCROSSING_MOST_SPINS = 4000, CCROSSING_PROBE = 32 };

static inline void CCrossing_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* The budget after the other side answered within `spins`, and after it did not. */
static inline uint32_t CCrossing_learnt(uint32_t budget, uint32_t spins) {
  uint32_t next = (7 * budget + 4 * spins + 64) / 8;
  return next < CCROSSING_MOST_SPINS ? next : CCROSSING_MOST_SPINS;
}
/* How often to look before a sleep. `waits` counts the waits of a thread. */
static inline uint32_t CCrossing_spins(uint32_t budget, uint32_t *waits) {
  return (*waits)++ % CCROSSING_PROBE == 0 || budget > CCROSSING_MOST_SPINS ? CCROSSING_MOST_SPINS : budget;
}
static inline uint32_t CCrossing_unlearnt(uint32_t budget) { return budget * 3 / 4 + 8; }

/* The processor of this thread. */
uint32_t CCrossing_processor(void);

#endif
