/* Takes denormal numbers for zero from the moment it is loaded, as a library linked with -ffast-math may do. */
#include <carabiner.h>
#include <stdint.h>

__attribute__((constructor)) static void start(void) {
#if defined(__x86_64__)
  /* FTZ and DAZ. */
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
#endif
}
#include "sound.h"
