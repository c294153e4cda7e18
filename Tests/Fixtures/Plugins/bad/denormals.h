#include <stdint.h>

/* Takes denormal numbers for zero in this thread, as -ffast-math does. */
static inline void flush_denormals(void) {
#if defined(__x86_64__)
  /* FTZ and DAZ. */
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
#endif
}
