#ifndef CCROSSING_INTERNAL_H
#define CCROSSING_INTERNAL_H

#include "crossing.h"

/* More spins than that, some 20 us, cost more than a sleep. */
enum { CCROSSING_MOST_SPINS = 800 };

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
static inline uint32_t CCrossing_unlearnt(uint32_t budget) { return budget * 3 / 4 + 8; }

/* The processor of this thread. */
uint32_t CCrossing_processor(void);

#endif
