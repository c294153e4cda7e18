#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test_host.h"

static const void *library(const void *address) {
  Dl_info info;
  struct link_map *map = NULL;
  return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static int is_on_stack(const void *address) {
  pthread_attr_t attributes;
  void *lowest;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  int done = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return done == 0 && (const char *)address >= (char *)lowest && (const char *)address < (char *)lowest + size;
}

int CTestHost_place(const void *inside, const void *address) {
  const void *found = library(address);
  if (found) return found == library(inside) ? CTESTHOST_SAME : CTESTHOST_OTHER;
  if (is_on_stack(address)) return CTESTHOST_ON_STACK;
  /* The kernel reports whether the page is mapped, without an access to it. */
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char resident;
  void *start = (void *)((uintptr_t)address / page * page);
  return mincore(start, 1, &resident) == 0 ? CTESTHOST_ON_HEAP : CTESTHOST_NOWHERE;
}

int CTestHost_memoryFile(const void *bytes, size_t count) {
  int descriptor = memfd_create("plugin-under-test", MFD_CLOEXEC);
  const char *next = bytes;
  while (descriptor >= 0 && count > 0) {
    ssize_t written = write(descriptor, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      close(descriptor);
      return -1;
    }
    next += written;
    count -= (size_t)written;
  }
  return descriptor;
}
