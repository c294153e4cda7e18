#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack.h"
#include "test_host.h"
#include "touches.h"

/* More than the views of one exchange.  Their owner removes them after it. */
#define REGIONS_MAX 65536

enum { FREE, WRITABLE, READABLE, ARMED, OPENING, ENDED, OPENED };

/* [start, start + inside) are the readable pages, followed by an unreadable one.  The bytes end where that page begins; or, if `is_first`,
 * they begin where the readable pages begin, behind an unreadable one. */
struct region {
  _Atomic uint32_t state;
  _Atomic int was_armed;
  int is_first;
  uint8_t *start;
  size_t inside;
  size_t count;
};

static struct region regions[REGIONS_MAX];
static _Atomic uint32_t used; /* regions ever used, which a fault searches */
static _Atomic uint32_t next_free;
static void (*_Atomic on_touch)(void);
static size_t page;
static _Atomic int places_first;

void CTestHost_placeRegions(int at_start) { atomic_store(&places_first, at_start); }

static uint8_t *bytes_of(const struct region *region) {
  return region->is_first ? region->start : region->start + region->inside - region->count;
}

/* Addresses of regions are not used twice.  A late access to a removed region is thus recognized, and does not reach newer memory.  A
 * removed region uses no memory and is merged with its neighbours. */
#define ARENA_BYTES ((size_t)64 << 20)
#define ARENAS_MAX 64
static struct arena {
  uint8_t *start;
  size_t used;
} arenas[ARENAS_MAX];
static _Atomic uint32_t arena_count;
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

static uint8_t *reserve(size_t size) {
  uint8_t *found = NULL;
  pthread_mutex_lock(&arena_lock);
  uint32_t count = atomic_load(&arena_count);
  struct arena *last = count ? &arenas[count - 1] : NULL;
  if (size <= ARENA_BYTES && (!last || last->used + size > ARENA_BYTES) && count < ARENAS_MAX) {
    void *start = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    last = start == MAP_FAILED ? NULL : &arenas[count];
    if (last) {
      *last = (struct arena){start, 0};
      atomic_store(&arena_count, count + 1);
    }
  }
  if (last && last->used + size <= ARENA_BYTES) {
    found = last->start + last->used;
    last->used += size;
  }
  pthread_mutex_unlock(&arena_lock);
  return found;
}

static int is_in_arena(const uint8_t *address) {
  uint32_t count = atomic_load(&arena_count);
  for (uint32_t index = 0; index < count; index++) {
    if (address >= arenas[index].start && address < arenas[index].start + ARENA_BYTES) return 1;
  }
  return 0;
}

/* Notes an access to a region and then allows it, so that one fault does not hide the next.  After any other fault the default action
 * is restored: the instruction faults again and the process dies. */
static void on_fault(int signal, siginfo_t *info, void *context) {
  uint8_t *address = info->si_addr;
  uint32_t limit = atomic_load(&used);
  for (uint32_t number = 0; number < limit; number++) {
    struct region *region = &regions[number];
    uint32_t state = atomic_load(&region->state);
    if (state == FREE || !region->start) continue;
    if (address < region->start - (region->is_first ? page : 0) || address >= region->start + region->inside + page) continue;
    if (state == ARMED && atomic_compare_exchange_strong(&region->state, &state, OPENING)) {
      void (*touched)(void) = atomic_load(&on_touch);
      if (touched) touched();
      uint32_t opening = OPENING;
      /* The bytes may have ended in the meantime. */
      if (atomic_compare_exchange_strong(&region->state, &opening, READABLE)) mprotect(region->start, region->inside, PROT_READ);
      return;
    }
    /* Another thread reads at the same time, or did so just before. */
    if (state == OPENING || (state == READABLE && atomic_exchange(&region->was_armed, 0))) return;
    uint8_t *bytes = bytes_of(region);
    int is_inside = address >= bytes && address < bytes + region->count;
    if (state != OPENED) CTestHost_reportTouch(state == ENDED ? CTESTHOST_LATE : is_inside ? CTESTHOST_WRITTEN : CTESTHOST_BEYOND, number, address - bytes, context);
    atomic_store(&region->state, OPENED);
    uint8_t *from = region->start - (region->is_first ? page : 0);
    if (mprotect(from, (size_t)(region->start - from) + region->inside + page, PROT_READ | PROT_WRITE) == 0) return;
  }
  if (CTestHost_openFreed(address, context)) return;
  if (is_in_arena(address)) {
    CTestHost_reportTouch(CTESTHOST_LATE, CTESTHOST_REMOVED, 0, context);
    if (mprotect((void *)((uintptr_t)address / page * page), page, PROT_READ | PROT_WRITE) == 0) return;
  }
  /* A signal that was sent does not occur again, so the process goes on. */
  if (info->si_code > 0) CTestHost_noteStack(signal, context);
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, NULL);
}

int CTestHost_catchTouches(void) {
  CTestHost_prepareStacks();
  page = (size_t)sysconf(_SC_PAGESIZE);
  /* The handler needs its own stack in case the plugin has used up that of the thread. */
  static uint8_t stack[64 << 10];
  stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternative, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return sigaction(SIGSEGV, &action, NULL) | sigaction(SIGBUS, &action, NULL);
}

static int claim(uint32_t *number) {
  uint32_t start = atomic_load(&next_free);
  for (uint32_t step = 0; step < REGIONS_MAX; step++) {
    uint32_t candidate = (start + step) % REGIONS_MAX;
    uint32_t expected = FREE;
    /* ENDED without pages reports nothing.  The real state is set when the pages are mapped. */
    if (!regions[candidate].start && atomic_compare_exchange_strong(&regions[candidate].state, &expected, WRITABLE)) {
      *number = candidate;
      atomic_store(&next_free, candidate + 1);
      uint32_t seen = atomic_load(&used);
      while (seen <= candidate && !atomic_compare_exchange_weak(&used, &seen, candidate + 1)) {
      }
      return 1;
    }
  }
  return 0;
}

/* Maps writable pages with an unreadable one behind them.  Returns NULL if that fails. */
static uint8_t *map(size_t inside, int is_first) {
  uint8_t *start = reserve(inside + (is_first ? 2 : 1) * page);
  if (start && is_first) return mprotect(start + page, inside, PROT_READ | PROT_WRITE) == 0 ? start + page : NULL;
  if (start) return mprotect(start, inside, PROT_READ | PROT_WRITE) == 0 ? start : NULL;
  start = mmap(NULL, inside + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  if (mprotect(start + inside, page, PROT_NONE) == 0) return start;
  munmap(start, inside + page);
  return NULL;
}

void *CTestHost_newRegion(size_t count, uint32_t *number) {
  if (!page || count > SIZE_MAX / 2 || !claim(number)) return NULL;
  struct region *region = &regions[*number];
  /* At least one page, so that the address of an empty view is inside a region too. */
  size_t inside = (count + page - 1) / page * page;
  if (inside == 0) inside = page;
  /* Without an arena the page in front is of other memory. */
  int is_first = atomic_load(&places_first) && inside + 2 * page <= ARENA_BYTES / 4;
  uint8_t *start = map(inside, is_first);
  if (start && is_first && !is_in_arena(start)) is_first = 0;
  if (!start) {
    atomic_store(&region->state, FREE);
    return NULL;
  }
  region->inside = inside;
  region->count = count;
  region->is_first = is_first;
  region->start = start;
  return bytes_of(region);
}

static struct region *live(uint32_t number) {
  return number < REGIONS_MAX && regions[number].start ? &regions[number] : NULL;
}

void CTestHost_protectRegion(uint32_t number) {
  struct region *region = live(number);
  if (!region || mprotect(region->start, region->inside, PROT_READ) != 0) return;
  atomic_store(&region->state, READABLE);
}

void CTestHost_armRegion(uint32_t number, void (*touched)(void)) {
  struct region *region = live(number);
  if (!region || mprotect(region->start, region->inside, PROT_NONE) != 0) return;
  atomic_store(&on_touch, touched);
  atomic_store(&region->was_armed, 1);
  atomic_store(&region->state, ARMED);
}

void CTestHost_endRegion(uint32_t number) {
  struct region *region = live(number);
  if (!region) return;
  atomic_store(&region->state, ENDED);
  mprotect(region->start, region->inside + page, PROT_NONE);
}

void CTestHost_removeRegion(uint32_t number) {
  struct region *region = live(number);
  if (!region) return;
  uint8_t *start = region->start;
  size_t size = region->inside + page;
  region->start = NULL;
  atomic_store(&region->state, FREE);
  if (!is_in_arena(start)) {
    munmap(start, size);
  } else if (mmap(start, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    mprotect(start, size, PROT_NONE);
  }
}
