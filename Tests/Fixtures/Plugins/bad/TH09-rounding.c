/* Rounds upward from now on, in vector instructions alone. */
#include <carabiner.h>
#include <stdint.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | 0x4000);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 22));
#endif
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
