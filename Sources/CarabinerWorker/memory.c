#define _GNU_SOURCE
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As in Arena.swift. */
enum { FIRST_BLOCK = 4096, LARGEST_KEPT = 64 << 10 };

struct block {
  struct block *before;
  size_t size;
  _Alignas(16) unsigned char bytes[];
};

/* A piece of the newest block, if it has room. */
static void *piece(struct memory *memory, size_t count, size_t alignment) {
  struct block *block = memory->newest;
  if (!block) return NULL;
  uintptr_t base = (uintptr_t)block->bytes;
  size_t offset = (size_t)(((base + memory->used + alignment - 1) & ~(uintptr_t)(alignment - 1)) - base);
  if (offset > block->size || count > block->size - offset) return NULL;
  memory->used = offset + count;
  return block->bytes + offset;
}

void *allocate(struct memory *memory, size_t count, size_t alignment, size_t limit) {
  void *found = piece(memory, count, alignment);
  if (found) return found;
  if (count > SIZE_MAX / 4) return NULL;
  size_t size = memory->newest ? 2 * memory->newest->size : FIRST_BLOCK;
  if (size < count + alignment) size = count + alignment;
  size_t most = limit > FIRST_BLOCK ? limit : FIRST_BLOCK;
  if (memory->total > most || size > most - memory->total) return NULL;
  struct block *block = calloc(1, sizeof *block + size);
  if (!block) return NULL;
  block->before = memory->newest;
  block->size = size;
  memory->newest = block;
  memory->total += size;
  memory->used = 0;
  return piece(memory, count, alignment);
}

void free_memory(struct memory *memory) {
  for (struct block *block = memory->newest; block;) {
    struct block *before = block->before;
    free(block);
    block = before;
  }
  *memory = (struct memory){0};
}

void reset_memory(struct memory *memory) {
  struct block *only = memory->newest;
  if (!only) return;
  if (only->before || only->size > LARGEST_KEPT) {
    free_memory(memory);
    return;
  }
  memset(only->bytes, 0, memory->used);
  memory->used = 0;
}

int is_used(const struct memory *memory) { return memory->newest && (memory->used > 0 || memory->newest->before); }
