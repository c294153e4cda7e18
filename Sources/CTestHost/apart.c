#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_host.h"

int CTestHost_runApart(void (*body)(void *), void *context) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    body(context);
    _exit(0);
  }
  int status;
  pid_t ended;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == child ? status : -1;
}

size_t CTestHost_heapInUse(void) {
  /* A sanitizer has an allocator of its own, which the figures of libc leave out. */
  size_t (*allocated)(void) = (size_t (*)(void))dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes");
  if (allocated) return allocated();
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void CTestHost_overwriteFreed(int byte) { mallopt(M_PERTURB, byte); }
