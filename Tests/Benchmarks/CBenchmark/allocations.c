/* Counts allocations by replacing the C library's functions. The counter is not atomic: the measured code runs on one
 * thread at a time, and an atomic addition costs more than a small allocation. */
#define _GNU_SOURCE
#include "carabiner_benchmark.h"
#include <errno.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static volatile uint64_t count;

uint64_t bench_allocations(void) { return count; }

void *malloc(size_t size) {
  count = count + 1;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count = count + 1;
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count = count + 1;
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count = count + 1;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count = count + 1;
  void *block = __libc_memalign(alignment, size);
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}
