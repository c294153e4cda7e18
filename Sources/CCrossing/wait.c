#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

uint64_t CCrossing_now(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t CCrossing_processor(void) {
  int processor = sched_getcpu();
  return processor < 0 ? UINT32_MAX : (uint32_t)processor;
}

void CCrossing_sleep(const _Atomic uint32_t *word, uint32_t old, uint64_t nanoseconds) {
  struct timespec limit = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  syscall(SYS_futex, word, FUTEX_WAIT, old, nanoseconds == UINT64_MAX ? NULL : &limit, NULL, 0);
}

int CCrossing_wake(const _Atomic uint32_t *word) {
  long woken = syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
  return woken > 0 ? (int)woken : 0;
}
