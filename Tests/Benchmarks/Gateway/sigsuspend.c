/* Valgrind 3.19 writes into the mask that a program passes to sigsuspend. Dispatch passes one in memory that cannot be written, and
 * valgrind ends. This library is loaded before libc and passes a copy. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int sigsuspend(const sigset_t *mask) {
  sigset_t copy = *mask;
  return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
