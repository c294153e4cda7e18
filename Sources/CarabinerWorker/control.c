/* The control thread: instances, cancelled calls, timers, and answers of services. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker.h"

static void cancel(const struct CCrossing_post *post) {
  struct instance *instance = find_instance(post->instance);
  struct call *call = begin_use(post->call);
  if (!call) return;
  atomic_store(&call->is_cancelled, 1);
  const struct stage *stage = instance && post->kind < KINDS ? &instance->interceptor->stages[post->kind] : NULL;
  int has_instance = instance && (!is_per_call(instance) || call->has_own);
  if (stage && stage->on_cancel && has_instance) {
    running_library = instance->interceptor->library->number + 1;
    stage->on_cancel(call->has_own ? call->own : instance->pointer, post->call, call->state);
    running_library = 0;
  }
  end_use(call);
}

static void revoke_post(const struct CCrossing_post *post) {
  struct call *call = use_existing(post->call);
  if (!call) return;
  uint32_t newest = atomic_load(&call->post_generation);
  /* A later hook of the call may have begun in its lane. */
  if (post->generation == 0 || post->generation == newest) revoke_hook(call);
  end_use(call);
}

_Noreturn static void shut_down(void) {
  enum { PATIENCE = 1000000000 };
  wait_for_lanes(PATIENCE);
  run_deferred(1);
  destroy_instances();
  end_plugins();
  _exit(0);
}

static crb_status use_instance(const struct CCrossing_post *post, struct reader message, struct records *answer) {
  struct instance *instance = find_instance(post->instance);
  if (!instance) {
    add_failure(answer, CRB_E_NOTFOUND, 0, "instance", "there is no such instance");
    return CRB_E_NOTFOUND;
  }
  switch (post->operation) {
    case CCROSSING_SAVE: return save_state(instance, answer);
    case CCROSSING_ADOPT: return adopt_state(instance, message, answer);
    case CCROSSING_DRAIN: drain_instance(instance); return CRB_OK;
    default: break;
  }
  /* Releases that the host posted before come first. */
  wait_for_lanes(UINT64_MAX);
  run_deferred(1);
  destroy_instance(instance);
  return CRB_OK;
}

static crb_status validate_post(const struct CCrossing_post *post, struct reader message, struct records *answer) {
  const struct interceptor *interceptor = find_interceptor(post->call);
  crb_view name, config;
  find_record(message, CCROSSING_CONFIG, &name, &config);
  if (interceptor) return validate(interceptor, config.ptr ? config : text_of("{}"), answer);
  add_failure(answer, CRB_E_NOTFOUND, 0, "validate", "there is no such interceptor");
  return CRB_E_NOTFOUND;
}

static crb_status handle(const struct CCrossing_post *post, struct reader message, struct records *answer) {
  switch (post->operation) {
    case CCROSSING_LOAD: return load_plugin((uint32_t)post->call, &message, answer);
    case CCROSSING_VALIDATE: return validate_post(post, message, answer);
    case CCROSSING_CREATE: return create_instance(post->instance, post->call, message, answer);
    case CCROSSING_SAVE:
    case CCROSSING_ADOPT:
    case CCROSSING_DRAIN:
    case CCROSSING_DESTROY: return use_instance(post, message, answer);
    case CCROSSING_CANCEL: cancel(post); return CRB_OK;
    case CCROSSING_REVOKE: revoke_post(post); return CRB_OK;
    case CCROSSING_FETCHED: finish_fetch(post->call, message); return CRB_OK;
    case CCROSSING_STORED: finish_store(post->call, message); return CRB_OK;
    case CCROSSING_REFUSALS: list_refusals(answer); return CRB_OK;
    case CCROSSING_SHUTDOWN: shut_down();
    default: return CRB_E_UNSUPPORTED;
  }
}

static void take(const struct CCrossing_post *post) {
  int has_slot = post->slot < CCROSSING_SLOTS;
  struct reader message = {NULL, 0};
  if (has_slot && post->length) message = (struct reader){CCrossing_arena(control.down, post->block), post->length};
  struct records records = {0};
  uint64_t began = CCrossing_now();
  if (has_slot) {
    lock_control();
    free_slot(&control, post->slot);
    unlock_control();
  }
  struct CCrossing_answer answer = {.verdict = handle(post, message, &records)};
  answer.nanoseconds = CCrossing_now() - began;
  if (has_slot && records.length) {
    lock_control();
    uint8_t *to = take_room(&control, post, records.length, &answer);
    unlock_control();
    if (to) memcpy(to, records.bytes, records.length);
    else answer.verdict = CRB_E_LIMIT, answer.block = control.failure_block, answer.length = control.failure_length;
  }
  free_records(&records);
  if (has_slot) publish(&control, post, &answer);
}

void run_control(void) {
  for (struct CCrossing_post post;;) {
    atomic_store(&control.attention, 0);
    uint64_t now = CCrossing_now(), next = fire_timers(now), sweep = sweep_kept(now);
    /* It does not spin. */
    control.budget = 0;
    if (sweep < next) next = sweep;
    if (!CCrossing_next(control.down, control.up, control.begun, next, &control.attention, &control.budget, &post)) continue;
    control.begun++;
    take(&post);
    atomic_store(&control.finished, control.begun);
    run_deferred(0);
  }
}
