#define _GNU_SOURCE
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator.h"
#include "counters.h"
#include "test_host.h"

/* The memory that all hooks of a plugin share: what it has allocated, and its variables. */
#define BLOCKS_MAX 4096
#define BLOCK_WORDS_MAX ((size_t)8 << 10)
#define WORDS_MAX ((size_t)1 << 20)

/* A word grows evenly if it has grown by the same at each of this many marks. */
#define MARKS_NEEDED 5

static struct block {
  uint64_t *start;
  size_t words;
  uint64_t *last; /* by word: its value at the last mark, and behind these how much it grew, 0 if not evenly */
  unsigned marks;
} blocks[BLOCKS_MAX];
static size_t all_words;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(void *memory, size_t size) {
  size_t words = size / sizeof(uint64_t);
  if (!memory || words == 0) return;
  if (words > BLOCK_WORDS_MAX) words = BLOCK_WORDS_MAX;
  pthread_mutex_lock(&lock);
  for (size_t index = 0; index < BLOCKS_MAX && all_words + words <= WORDS_MAX; index++) {
    if (blocks[index].start) continue;
    uint64_t *last = calloc(2 * words, sizeof *last);
    if (last) {
      blocks[index] = (struct block){memory, words, last, 0};
      all_words += words;
    }
    break;
  }
  pthread_mutex_unlock(&lock);
}

static void forget(struct block *block) {
  CTestHost_dropCounters(block->start, block->words);
  all_words -= block->words;
  free(block->last);
  *block = (struct block){0};
}

static void drop(const void *memory) {
  if (!memory) return;
  pthread_mutex_lock(&lock);
  for (size_t index = 0; index < BLOCKS_MAX; index++) {
    if (blocks[index].start != memory) continue;
    forget(&blocks[index]);
    break;
  }
  pthread_mutex_unlock(&lock);
}

static void *listed(void *memory, size_t size) {
  add(memory, size);
  return memory;
}
static void *list_malloc(size_t size) { return listed(malloc(size), size); }
static void *list_calloc(size_t count, size_t size) {
  void *memory = calloc(count, size);
  return memory ? listed(memory, count * size) : NULL;
}
static void *list_realloc(void *memory, size_t size) {
  drop(memory);
  void *larger = realloc(memory, size);
  if (larger) return listed(larger, size);
  if (memory && size) add(memory, malloc_usable_size(memory));
  return NULL;
}
static void *list_aligned(size_t alignment, size_t size) { return listed(aligned_alloc(alignment, size), size); }
static int list_memalign(void **out, size_t alignment, size_t size) {
  int status = posix_memalign(out, alignment, size);
  if (status == 0) add(*out, size);
  return status;
}
/* operator new never returns NULL.  Without memory the process ends here. */
static void *list_new(size_t size) {
  void *memory = list_malloc(size ? size : 1);
  if (!memory) abort();
  return memory;
}
static void list_free(void *memory) {
  drop(memory);
  free(memory);
}
static void list_free_sized(void *memory, size_t size) {
  (void)size;
  list_free(memory);
}

static int add_variables(struct dl_phdr_info *info, size_t size, void *inside) {
  (void)size;
  uintptr_t address = (uintptr_t)inside;
  int is_here = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    is_here |= part->p_type == PT_LOAD && address >= start && address < start + part->p_memsz;
  }
  for (int index = 0; is_here && index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    uintptr_t start = (info->dlpi_addr + part->p_vaddr + 7) / 8 * 8, end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    if (part->p_type == PT_LOAD && part->p_flags & PF_W && start < end) add((void *)start, end - start);
  }
  return is_here;
}

int CTestHost_watchCounters(const void *inside) {
  if (!CTestHost_openSteps(inside)) return 0;
  CTestHost_replaceAllocator(
      inside, &(struct allocator){.allocate = list_malloc,
                                  .allocate_zeroed = list_calloc,
                                  .reallocate = list_realloc,
                                  .allocate_aligned = list_aligned,
                                  .allocate_into = list_memalign,
                                  .construct = list_new,
                                  .release = list_free,
                                  .release_sized = list_free_sized});
  dl_iterate_phdr(add_variables, (void *)inside);
  return 1;
}

void CTestHost_beginMarks(void) {
  pthread_mutex_lock(&lock);
  for (size_t index = 0; index < BLOCKS_MAX; index++) blocks[index].marks = 0;
  pthread_mutex_unlock(&lock);
}

/* Another library may have freed the block, as that of C++ frees texts, and libc may have given its pages back. */
static int is_mapped(const struct block *block) {
  static unsigned char resident[BLOCK_WORDS_MAX * sizeof(uint64_t) / 4096 + 2];
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)block->start / page * page;
  return mincore((void *)start, (uintptr_t)(block->start + block->words) - start, resident) == 0;
}

static void mark(struct block *block) {
  uint64_t *growth = block->last + block->words;
  for (size_t word = 0; word < block->words; word++) {
    uint64_t now = block->start[word], grown = now - block->last[word];
    if (block->marks == 1) growth[word] = grown;
    if (block->marks > 1 && growth[word] != grown) growth[word] = 0;
    block->last[word] = now;
  }
  block->marks++;
}

size_t CTestHost_markWords(void) {
  pthread_mutex_lock(&lock);
  CTestHost_dropCounters(NULL, SIZE_MAX / sizeof(uint64_t));
  for (size_t index = 0; index < BLOCKS_MAX; index++) {
    struct block *block = &blocks[index];
    if (!block->start) continue;
    if (!is_mapped(block)) {
      forget(block);
      continue;
    }
    mark(block);
    for (size_t word = 0; block->marks > MARKS_NEEDED && word < block->words; word++) {
      if (block->last[block->words + word]) CTestHost_addCounter(&block->start[word]);
    }
  }
  size_t count = CTestHost_counterCount();
  pthread_mutex_unlock(&lock);
  return count;
}
