#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator.h"
#include "test_host.h"
#include "touches.h"

/* Freed memory is kept for a while with inaccessible pages, so each allocation has its own pages.  It is still ordinary memory of libc,
 * which other libraries may free or reallocate. */
#define FREED_MAX 4096

enum { EMPTY, CLOSED, OPENED };

static struct freed {
  _Atomic int state;
  uint8_t *start;
  size_t size;
} freed[FREED_MAX];
static size_t oldest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t page;
static int (*is_of_host)(const void *);

static void *allocate(size_t size, size_t alignment, int byte) {
  if (size > SIZE_MAX / 2) return NULL;
  size_t rounded = (size + page - 1) / page * page;
  if (rounded == 0) rounded = page;
  void *memory = NULL;
  if (posix_memalign(&memory, alignment > page ? alignment : page, rounded) != 0) return NULL;
  memset(memory, byte, rounded);
  return memory;
}

int CTestHost_openFreed(uint8_t *address, const void *context) {
  for (size_t index = 0; index < FREED_MAX; index++) {
    struct freed *entry = &freed[index];
    if (atomic_load(&entry->state) == EMPTY || address < entry->start || address >= entry->start + entry->size) continue;
    if (atomic_exchange(&entry->state, OPENED) == CLOSED) {
      CTestHost_reportTouch(CTESTHOST_FREED, CTESTHOST_REMOVED, address - entry->start, context);
    }
    return mprotect(entry->start, entry->size, PROT_READ | PROT_WRITE) == 0;
  }
  return 0;
}

static int was_freed(const void *memory) {
  for (size_t index = 0; index < FREED_MAX; index++) {
    if (atomic_load(&freed[index].state) != EMPTY && freed[index].start == memory) return 1;
  }
  return 0;
}

/* Makes the pages of some memory inaccessible instead of freeing it.  The oldest such memory is freed. */
static void close_pages(uint8_t *memory, size_t size) {
  struct freed *entry = &freed[oldest];
  oldest = (oldest + 1) % FREED_MAX;
  if (atomic_exchange(&entry->state, EMPTY) != EMPTY) {
    mprotect(entry->start, entry->size, PROT_READ | PROT_WRITE);
    free(entry->start);
  }
  entry->start = memory;
  entry->size = size;
  atomic_store(&entry->state, CLOSED);
  mprotect(memory, size, PROT_NONE);
}

static void guard_free(void *memory) {
  if (!memory || (is_of_host && is_of_host(memory))) return;
  pthread_mutex_lock(&lock);
  if (was_freed(memory)) {
    CTestHost_reportTouch(CTESTHOST_FREED, CTESTHOST_REMOVED, -1, NULL);
  } else {
    /* In every allocator, whole pages at the beginning of an allocation contain nothing else. */
    size_t size = (uintptr_t)memory % page == 0 ? malloc_usable_size(memory) / page * page : 0;
    if (size) {
      close_pages(memory, size);
    } else {
      free(memory);
    }
  }
  pthread_mutex_unlock(&lock);
}
static void guard_free_sized(void *memory, size_t size) {
  (void)size;
  guard_free(memory);
}

static void *guard_malloc(size_t size) { return allocate(size, 0, CTESTHOST_UNWRITTEN); }
static void *guard_calloc(size_t count, size_t size) {
  size_t total;
  return __builtin_mul_overflow(count, size, &total) ? NULL : allocate(total, 0, 0);
}
static void *guard_realloc(void *memory, size_t size) {
  if (!memory) return guard_malloc(size);
  if (size == 0) {
    guard_free(memory);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  int is_gone = was_freed(memory);
  pthread_mutex_unlock(&lock);
  size_t had = is_gone ? 0 : malloc_usable_size(memory);
  void *larger = guard_malloc(size);
  if (!larger) return NULL;
  memcpy(larger, memory, had < size ? had : size);
  guard_free(memory);
  return larger;
}
static void *guard_aligned(size_t alignment, size_t size) { return allocate(size, alignment, CTESTHOST_UNWRITTEN); }
static int guard_memalign(void **out, size_t alignment, size_t size) {
  void *memory = allocate(size, alignment, CTESTHOST_UNWRITTEN);
  if (!memory) return 12 /* ENOMEM */;
  *out = memory;
  return 0;
}
static char *guard_strndup(const char *text, size_t most) {
  size_t length = strnlen(text, most);
  char *copy = guard_malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}
static char *guard_strdup(const char *text) { return guard_strndup(text, SIZE_MAX); }
/* operator new never returns NULL.  Without memory the process ends here. */
static void *guard_new(size_t size) {
  void *memory = guard_malloc(size);
  if (!memory) abort();
  return memory;
}

int CTestHost_watchHeap(const void *inside, int (*is_ours)(const void *)) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  is_of_host = is_ours;
  return CTestHost_replaceAllocator(
      inside, &(struct allocator){.allocate = guard_malloc,
                                  .allocate_zeroed = guard_calloc,
                                  .reallocate = guard_realloc,
                                  .allocate_aligned = guard_aligned,
                                  .allocate_into = guard_memalign,
                                  .copy_text = guard_strdup,
                                  .copy_text_part = guard_strndup,
                                  .construct = guard_new,
                                  .release = guard_free,
                                  .release_sized = guard_free_sized});
}
