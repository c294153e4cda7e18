/* Functions of the host: waiting, memory and facts of a call. */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "worker.h"

void *scratch(crb_call handle, size_t n, size_t align) {
  if (align == 0 || align & (align - 1) || align > 4096 || n > MOST_SCRATCH_BYTES) return NULL;
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return NULL;
  void *memory = allocate(&call->scratch, n ? n : 1, align, MOST_SCRATCH_BYTES);
  leave(call);
  return memory;
}

crb_token suspend_hook(crb_call handle) {
  crb_status status;
  struct call *call = enter(handle, &status);
  if (!call) return 0;
  uint64_t word = atomic_load(&call->token);
  uint32_t generation = token_generation(word) == UINT32_MAX ? 1 : token_generation(word) + 1;
  int is_armed = token_state(word) == TOKEN_FREE &&
                 atomic_compare_exchange_strong(&call->token, &word, pack_token(generation, 0, TOKEN_ARMED));
  crb_token token = (uint64_t)(call->index + 1) << 32 | generation;
  leave(call);
  return is_armed ? token : 0;
}

crb_status resume_hook(crb_token token, crb_verdict verdict) {
  /* No verdict has more than 15 bits.  A larger number becomes an invalid verdict, which the host reports. */
  if (verdict > INT16_MAX) verdict = INT16_MAX - 1;
  if (verdict < INT16_MIN) verdict = -1;
  struct call *call = call_at((uint32_t)(token >> 32) - 1);
  if (!call) return CRB_E_INVAL;
  uint32_t generation = (uint32_t)token, state;
  uint64_t word = atomic_load(&call->token);
  struct lane *lane;
  uint32_t slot;
  do {
    state = token_state(word);
    /* Before the change, after which the call may go on. */
    lane = atomic_load(&call->lane);
    slot = atomic_load(&call->slot);
    if (token_generation(word) != generation || (state != TOKEN_ARMED && state != TOKEN_PARKED)) {
      note_resumed(token);
      return CRB_E_STALE;
    }
  } while (!atomic_compare_exchange_weak(&call->token, &word, pack_token(generation, verdict, TOKEN_RESUMED)));
  if (state == TOKEN_PARKED) mark_resumed(lane, slot);
  return CRB_OK;
}

int32_t cancelled(crb_call handle) {
  struct call *call = find_call(handle);
  return call ? (int32_t)atomic_load(&call->is_cancelled) : CRB_E_STALE;
}

uint64_t deadline_ns(crb_call handle) {
  struct call *call = find_call(handle);
  return call ? atomic_load_explicit(&call->deadline, memory_order_relaxed) : UINT64_MAX;
}

uint32_t attempt(crb_call handle) {
  struct call *call = find_call(handle);
  return call ? atomic_load_explicit(&call->attempt, memory_order_relaxed) : 0;
}

uint32_t operation_type(crb_call handle) {
  struct call *call = find_call(handle);
  return call ? atomic_load_explicit(&call->operation_type, memory_order_relaxed) : 0;
}

uint64_t request_id(crb_call handle) {
  struct call *call = find_call(handle);
  return call ? atomic_load_explicit(&call->request_id, memory_order_relaxed) : 0;
}
