#define _GNU_SOURCE
#include <stdlib.h>

#include "crossing.h"

int CCrossing_openSpace(struct CCrossing_space *space, uint64_t arena) {
  uint64_t count = arena / CCROSSING_BLOCK;
  if (count > UINT32_MAX - 64) return -1;
  *space = (struct CCrossing_space){.count = (uint32_t)count, .used = calloc(count / 64 + 1, sizeof(uint64_t))};
  return space->used ? 0 : -1;
}

void CCrossing_closeSpace(struct CCrossing_space *space) {
  free(space->used);
  *space = (struct CCrossing_space){0};
}

static int is_used(const struct CCrossing_space *space, uint32_t block) { return space->used[block / 64] >> block % 64 & 1; }

/* The first of `count` free blocks from `first` on, before `end`. */
static uint32_t find(const struct CCrossing_space *space, uint32_t first, uint32_t end, uint32_t count) {
  uint32_t run = 0;
  for (uint32_t block = first; block < end; block++) {
    if (block % 64 == 0 && space->used[block / 64] == UINT64_MAX) {
      run = 0;
      block += 63;
      continue;
    }
    run = is_used(space, block) ? 0 : run + 1;
    if (run == count) return block + 1 - count;
  }
  return UINT32_MAX;
}

uint32_t CCrossing_take(struct CCrossing_space *space, uint64_t bytes) {
  uint64_t blocks = CCrossing_blocks(bytes);
  if (blocks > space->count) return UINT32_MAX;
  uint32_t count = (uint32_t)blocks, first = find(space, space->next, space->count, count);
  if (first == UINT32_MAX) first = find(space, 0, space->count, count);
  if (first == UINT32_MAX) return first;
  for (uint32_t block = first; block < first + count; block++) space->used[block / 64] |= UINT64_C(1) << block % 64;
  space->next = first + count < space->count ? first + count : 0;
  return first;
}

void CCrossing_give(struct CCrossing_space *space, uint32_t block, uint64_t bytes) {
  uint64_t end = block + CCrossing_blocks(bytes);
  if (end > space->count) return;
  for (uint64_t index = block; index < end; index++) space->used[index / 64] &= ~(UINT64_C(1) << index % 64);
  /* Pages in use stay warm, and few. */
  if (block < space->next) space->next = block;
}
