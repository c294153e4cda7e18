/* Opens a file while symbols are bound. */
#include <carabiner.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t plain(void) { return 1; }
static uint64_t (*choose(void))(void) {
  long file;
  /* As a function of libc would, which may not be bound yet. */
#if defined(__x86_64__)
  __asm__ volatile("syscall" : "=a"(file) : "a"(SYS_openat), "D"(AT_FDCWD), "S"("/proc/self/status"), "d"(O_RDONLY) : "rcx", "r11", "memory");
  if (file >= 0) __asm__ volatile("syscall" : "=a"(file) : "a"(SYS_close), "D"(file) : "rcx", "r11", "memory");
#else
  file = 0;
#endif
  (void)file;
  return plain;
}
static uint64_t digest(void) __attribute__((ifunc("choose")));
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  return digest() ? CRB_CONTINUE : CRB_FAIL;
}
#define ON_END on_end
#include "sound.h"
