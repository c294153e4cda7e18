/* The memory of a lane: room for its answers, and which of its tokens were resumed. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "worker.h"

static const char no_room[] = "the answer of the hook is larger than the free part of the arena; raise arena, or stage less";

int open_lane(struct lane *lane, const struct CCrossing_down *down, struct CCrossing_up *up) {
  lane->down = down;
  lane->up = up;
  if (CCrossing_openSpace(&lane->space, down->arena) != 0) return -1;
  struct records failure = {0};
  add_failure(&failure, CRB_E_LIMIT, CRB_ERROR_LIMIT, "answer", no_room);
  lane->failure_block = CCrossing_take(&lane->space, failure.length);
  lane->failure_length = (uint32_t)failure.length;
  int has_room = !failure.is_short && lane->failure_block != UINT32_MAX;
  if (has_room) memcpy(CCrossing_arena(up, lane->failure_block), failure.bytes, failure.length);
  free_records(&failure);
  return has_room ? 0 : -1;
}

void ring_bell(void) {
  uint64_t one = 1;
  /* A full counter rings already. */
  if (write(CCROSSING_BELL, &one, sizeof one) < 0) return;
}

void mark_resumed(struct lane *lane, uint32_t slot) {
  atomic_fetch_or(&lane->resumed[slot / 64], UINT64_C(1) << slot % 64);
  CCrossing_attend(lane->down, lane->up, &lane->attention);
}

static void free_answer(struct lane *lane, uint32_t slot) {
  struct lane_slot *of = &lane->slots[slot];
  if (of->length) CCrossing_give(&lane->space, of->block, of->length);
  of->length = 0;
}

void free_slot(struct lane *lane, uint32_t slot) {
  free_answer(lane, slot);
  lane->slots[slot].call = NULL;
  lane->slots[slot].token = 0;
}

void *take_room(struct lane *lane, const struct CCrossing_post *post, uint64_t bytes, struct CCrossing_answer *answer) {
  if (bytes > UINT32_MAX) return NULL;
  uint32_t block = CCrossing_take(&lane->space, bytes);
  if (block == UINT32_MAX) {
    for (uint32_t slot = 0; slot < CCROSSING_SLOTS; slot++) {
      uint32_t taken = atomic_load_explicit(&lane->down->slots[slot].taken, memory_order_acquire);
      if (taken && taken == lane->slots[slot].generation) free_answer(lane, slot);
    }
    block = CCrossing_take(&lane->space, bytes);
  }
  if (block == UINT32_MAX) return NULL;
  struct lane_slot *slot = &lane->slots[post->slot];
  slot->generation = post->generation;
  slot->block = answer->block = block;
  slot->length = answer->length = (uint32_t)bytes;
  return CCrossing_arena(lane->up, block);
}

void publish(struct lane *lane, const struct CCrossing_post *post, struct CCrossing_answer *answer) {
  if (CCrossing_publish(lane->down, lane->up, post, answer)) ring_bell();
}
