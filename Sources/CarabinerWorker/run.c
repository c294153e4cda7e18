/* Lanes: threads that take posts and publish answers. */
#define _GNU_SOURCE
#include "run.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "worker.h"

/* Completes the hooks whose tokens were resumed. */
static void complete_resumed(struct lane *lane) {
  for (uint32_t word = 0; word < CCROSSING_SLOTS / 64; word++) {
    uint64_t marked = atomic_exchange(&lane->resumed[word], 0);
    for (; marked; marked &= marked - 1) {
      struct lane_slot *slot = &lane->slots[64 * word + (uint32_t)__builtin_ctzll(marked)];
      struct call *call = slot->call;
      if (!call || !slot->token) continue;
      uint64_t token = atomic_load(&call->token);
      if (token_state(token) != TOKEN_RESUMED || token_generation(token) != slot->token) continue;
      /* Unless it is revoked at this moment. */
      if (!atomic_compare_exchange_strong(&call->token, &token, pack_token(slot->token, 0, TOKEN_ENDING))) continue;
      slot->token = 0;
      slot->call = NULL;
      complete(lane, call, token_verdict(token));
    }
  }
}

static void run_lane(struct lane *lane) {
  for (struct CCrossing_post post;;) {
    if (atomic_exchange(&lane->attention, 0)) complete_resumed(lane);
    if (!CCrossing_next(lane->down, lane->up, lane->begun, UINT64_MAX, &lane->attention, &lane->budget, &post)) continue;
    lane->begun++;
    if (post.operation == CCROSSING_RELEASE && !defer_release(post.call)) release_call(post.call);
    if (post.operation < CCROSSING_RELEASE && post.slot < CCROSSING_SLOTS) run_crossing(lane, &post);
    atomic_store_explicit(&lane->finished, lane->begun, memory_order_release);
  }
}

static void *start_lane(void *lane) {
  run_lane(lane);
  return NULL;
}

void run_pairs(void) {
  for (uint32_t number = 0; number < lane_count; number++) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, start_lane, &lanes[number]);
    if (code != 0) {
      fprintf(stderr, "a lane cannot be started: %s\n", strerror(code));
      _exit(5);
    }
    pthread_detach(thread);
  }
  atomic_store(&control.up->ready, 1);
  CCrossing_wake(&control.up->ready);
  run_control();
}
