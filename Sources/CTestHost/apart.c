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

/* A sanitizer has an allocator of its own, which the figures of libc leave out. */
static size_t (*sanitizer_heap)(void);

/* Before a plugin is loaded, which could have a function with this name. */
__attribute__((constructor)) static void find_heap(void) {
  sanitizer_heap = (size_t (*)(void))dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes");
}

size_t CTestHost_heapInUse(void) {
  if (sanitizer_heap) return sanitizer_heap();
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void CTestHost_overwriteFreed(int byte) { mallopt(M_PERTURB, byte); }
