#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_host.h"

/* More threads than a pool has.  The oldest are forgotten. */
#define REMEMBERED 1024

static _Atomic int pool[REMEMBERED];
static atomic_uint pooled;

struct start {
  void *(*routine)(void *);
  void *argument;
};

static void *begin(void *context) {
  struct start start = *(struct start *)context;
  free(context);
  atomic_store(&pool[atomic_fetch_add(&pooled, 1) % REMEMBERED], gettid());
  return start.routine(start.argument);
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (!start) return EAGAIN;
  *start = (struct start){routine, argument};
  int status = pthread_create(thread, attributes, begin, start);
  if (status != 0) free(start);
  return status;
}

static int watch(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(name, "libdispatch.", 12) != 0) return 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    if (info->dlpi_phdr[index].p_type != PT_LOAD) continue;
    const void *inside = (const void *)(info->dlpi_addr + info->dlpi_phdr[index].p_vaddr);
    *(int *)context += CTestHost_replaceImport(inside, "pthread_create", (void *)create, NULL);
    break;
  }
  return 0;
}

int CTestHost_watchPool(void) {
  int watched = 0;
  dl_iterate_phdr(watch, &watched);
  return watched;
}

int CTestHost_isOfPool(int thread) {
  for (size_t index = 0; index < REMEMBERED; index++) {
    if (atomic_load(&pool[index]) == thread) return 1;
  }
  return 0;
}
