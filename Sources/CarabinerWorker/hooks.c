/* Runs hooks, and answers. */
#define _GNU_SOURCE
#include <sched.h>

#include "worker.h"

typedef crb_verdict (*first_hook)(void *, crb_call, void **);
typedef crb_verdict (*first_event_hook)(void *, crb_call, void **, const void *);
typedef crb_verdict (*event_hook)(void *, crb_call, void *, const void *);
typedef crb_verdict (*end_hook)(void *, crb_call, void *);

/* How long the answer of the first stage of a row waits for those of the others. */
#define LONGEST_HOLD UINT64_C(500000)

static crb_verdict call_function(struct call *call, void (*hook)(void), void *pointer, const void *event) {
  crb_call handle = call->post.call;
  switch (call->post.operation) {
    case CCROSSING_ON_REQUEST:
    case CCROSSING_ON_READ: return ((first_hook)hook)(pointer, handle, &call->state);
    case CCROSSING_ON_END: return ((end_hook)hook)(pointer, handle, call->state);
    case CCROSSING_ON_HEAD:
      if (call->post.kind == KIND_PARSING) return ((first_event_hook)hook)(pointer, handle, &call->state, event);
      return ((event_hook)hook)(pointer, handle, call->state, event);
    default: return ((event_hook)hook)(pointer, handle, call->state, event);
  }
}

/* ---- Rows of stages ---- */

static int has_followers(const struct lane *lane) { return lane->row.next < lane->row.count; }

/* Publishes the answer of the first stage, if it was held back. */
static void end_hold(struct lane *lane) {
  struct row *row = &lane->row;
  if (!row->is_held) return;
  row->is_held = 0;
  publish(lane, &row->post, &row->answer);
  row->post.slot = CCROSSING_NO_SLOT;
}

/* Publishes an answer.  That of the first stage waits for the others of its row. */
static void deliver(struct lane *lane, const struct CCrossing_post *post, struct CCrossing_answer *answer) {
  struct row *row = &lane->row;
  if (!has_followers(lane) || row->post.slot != post->slot || row->post.generation != post->generation) {
    publish(lane, post, answer);
    return;
  }
  row->answer = *answer;
  row->is_held = 1;
  row->held_since = CCrossing_now();
}

static struct CCrossing_post post_of(const struct row *row, const struct CCrossing_follower *follower) {
  struct CCrossing_post post = row->post;
  post.slot = follower->slot < CCROSSING_SLOTS ? follower->slot : 0;
  post.generation = follower->generation;
  post.instance = follower->instance;
  post.call = follower->call;
  return post;
}

/* A stage did not let the message pass: answers for those after it.  The host finds these answers when it has that stage's own. */
static void end_row(struct lane *lane) {
  struct row *row = &lane->row;
  while (has_followers(lane)) {
    struct CCrossing_post post = post_of(row, &row->followers[row->next++]);
    struct CCrossing_answer answer = {.verdict = CRB_CONTINUE, .flags = CCROSSING_NOT_RUN};
    free_slot(lane, post.slot);
    publish(lane, &post, &answer);
  }
}

/* Ends the row unless the next stage may run after this one.  It sees what this one changed. */
static void pass_on(struct lane *lane, struct call *call, crb_verdict verdict) {
  if (!has_followers(lane)) return;
  if (verdict != CRB_CONTINUE || !allow_next_stage(&call->edits) || !add_earlier(&call->earlier, &call->edits)) {
    end_row(lane);
    return;
  }
  lane->row.earlier = call->earlier;
  call->earlier = (struct earlier){0};
}

/* Answers that the worker failed the hook; the plugin did not return CRB_FAIL. */
static void fail(struct lane *lane, const struct CCrossing_post *post, struct records *reason, const char *text) {
  struct records made = {0};
  if (!reason) reason = &made;
  if (reason->length == 0) add_failure(reason, CRB_E_INTERNAL, 0, "hook", text);
  struct CCrossing_answer answer = {.verdict = CRB_FAIL, .block = lane->failure_block, .length = lane->failure_length};
  uint8_t *to = take_room(lane, post, reason->length, &answer);
  if (to) __builtin_memcpy(to, reason->bytes, reason->length);
  free_records(reason);
  end_row(lane);
  deliver(lane, post, &answer);
}

/* Answers with what the hook staged.  Its token is no longer armed. */
static void answer(struct lane *lane, struct call *call, crb_verdict verdict, const char *fault) {
  close_hook(call);
  if (fault) {
    struct CCrossing_record record = {.kind = CCROSSING_FAILURE, .a = (uint32_t)CRB_E_STATE, .b = CRB_ERROR_PLUGIN_FAULT};
    stage(call, &record, text_of("hook"), text_of(fault));
    verdict = CRB_FAIL;
  }
  struct CCrossing_post post = call->post;
  struct CCrossing_answer answer = {.verdict = verdict, .nanoseconds = CCrossing_now() - call->began, .began = call->began};
  uint64_t bytes = edits_size(&call->edits);
  uint8_t *to = bytes ? take_room(lane, &post, bytes, &answer) : NULL;
  if (to) write_edits(&call->edits, to);
  if (bytes && !to) {
    answer.verdict = CRB_FAIL;
    answer.block = lane->failure_block;
    answer.length = lane->failure_length;
  }
  pass_on(lane, call, answer.verdict);
  int is_kept = call->state || call->has_own || is_used(&call->scratch);
  answer.flags = is_kept ? CCROSSING_KEPT : 0;
  reset_memory(&call->views);
  reset_edits(&call->edits);
  reset_earlier(&call->earlier);
  call->view = NULL;
  call->snapshot = NULL;
  uint64_t token = atomic_load(&call->token);
  if (token_state(token) == TOKEN_ENDING) atomic_store(&call->token, pack_token(token_generation(token), 0, TOKEN_FREE));
  /* The host may post the next hook as soon as it has the answer. */
  finish_use(call, is_kept);
  deliver(lane, &post, &answer);
}

/* Answers for a hook that was resumed. */
void complete(struct lane *lane, struct call *call, crb_verdict verdict) {
  answer(lane, call, verdict, verdict == CRB_PENDING ? "resume() with PENDING" : NULL);
}

static void copy_facts(struct call *call) {
  const struct CCrossing_snapshot *from = call->snapshot;
  atomic_store_explicit(&call->deadline, from->deadline_ns, memory_order_relaxed);
  atomic_store_explicit(&call->request_id, from->request_id, memory_order_relaxed);
  atomic_store_explicit(&call->attempt, from->attempt, memory_order_relaxed);
  atomic_store_explicit(&call->operation_type, from->operation_type, memory_order_relaxed);
}

/* Settles a hook that returned.  Its slot is parked if its token was not resumed. */
static void settle(struct lane *lane, struct call *call, crb_verdict verdict) {
  uint64_t token = atomic_load(&call->token);
  while (token_state(token) != TOKEN_FREE) {
    uint32_t generation = token_generation(token), state = token_state(token);
    if (state == TOKEN_ENDING) {
      /* The control thread revokes it at this moment, and ends it. */
      sched_yield();
      token = atomic_load(&call->token);
      continue;
    }
    int parks = verdict == CRB_PENDING && state == TOKEN_ARMED;
    struct lane_slot *slot = &lane->slots[call->post.slot];
    struct CCrossing_post post = call->post;
    if (parks) {
      slot->call = call;
      slot->token = generation;
    }
    if (!atomic_compare_exchange_strong(&call->token, &token, pack_token(generation, 0, parks ? TOKEN_PARKED : TOKEN_ENDING))) {
      slot->call = NULL;
      slot->token = 0;
      continue;
    }
    if (parks) {
      end_row(lane);
      if (CCrossing_pend(lane->down, lane->up, &post)) ring_bell();
    } else if (verdict == CRB_PENDING) {
      complete(lane, call, token_verdict(token));
    } else {
      answer(lane, call, verdict, "a token was taken with suspend() but the hook answered without PENDING");
    }
    return;
  }
  answer(lane, call, verdict, verdict == CRB_PENDING ? "PENDING without a token from suspend()" : NULL);
}

static crb_verdict invoke(struct lane *lane, struct call *call, void (*hook)(void), const void *event) {
  const struct CCrossing_post *post = &call->post;
  struct instance *instance = call->instance;
  running_library = instance->interceptor->library->number + 1;
  running_call = call;
  uint64_t running = (uint64_t)post->generation << 32 | (uint64_t)post->slot << 8 | (post->operation + 1u);
  atomic_store_explicit(&lane->up->running, running, memory_order_relaxed);
  atomic_store(&call->phase, post->operation + 1u);
  int is_alone = is_serial(instance);
  if (is_alone) pthread_mutex_lock(&instance->alone);
  crb_verdict verdict = call_function(call, hook, call->has_own ? call->own : instance->pointer, event);
  if (is_alone) pthread_mutex_unlock(&instance->alone);
  if (instance->interceptor->library->is_watched) watch_return(call, verdict);
  atomic_store_explicit(&lane->up->running, 0, memory_order_relaxed);
  running_call = NULL;
  running_library = 0;
  return verdict;
}

/* Returns 0 if the instance of the call cannot be made; then it has answered. */
static int make_own(struct lane *lane, struct call *call, const struct CCrossing_post *post, struct instance *instance) {
  struct records reason = {0};
  void *own = NULL;
  running_call = call;
  crb_status status = create_own(instance, &own, &reason);
  running_call = NULL;
  if (status != CRB_OK) {
    finish_use(call, 0);
    fail(lane, post, &reason, "the instance of the call cannot be created");
    return 0;
  }
  call->own = own;
  call->has_own = 1;
  free_records(&reason);
  return 1;
}

static void run_hook(struct lane *lane, const struct CCrossing_post *post) {
  free_slot(lane, post->slot);
  struct instance *instance = find_instance(post->instance);
  const struct stage *stage = instance && post->kind < KINDS ? &instance->interceptor->stages[post->kind] : NULL;
  if (!stage || !stage->exists || post->length < sizeof(struct CCrossing_snapshot)) {
    fail(lane, post, NULL, "the host posted a hook of an instance or stage that does not exist");
    return;
  }
  struct call *call = begin_use(post->call);
  if (!call) {
    fail(lane, post, NULL, "there is no memory for another call, or more than 65,536 are under way; send fewer at once");
    return;
  }
  /* The host goes on without a hook that was pending. */
  revoke_hook(call);
  call->began = CCrossing_now();
  call->instance = instance;
  call->stage = stage;
  if (is_per_call(instance) && !call->has_own && !make_own(lane, call, post, instance)) return;
  call->post = *post;
  call->snapshot = CCrossing_arena(lane->down, post->block);
  call->earlier = lane->row.earlier;
  lane->row.earlier = (struct earlier){0};
  atomic_store(&call->lane, lane);
  atomic_store(&call->slot, post->slot);
  atomic_store(&call->post_generation, post->generation);
  copy_facts(call);
  void (*hook)(void) = stage->hooks[post->operation];
  void *event = call->snapshot->event != CCROSSING_NO_EVENT ? make_event(call) : NULL;
  if (call->snapshot->event != CCROSSING_NO_EVENT && !event) {
    answer(lane, call, CRB_FAIL, "there is no memory for an event of a call; send fewer at once");
    return;
  }
  settle(lane, call, hook ? invoke(lane, call, hook, event) : CRB_CONTINUE);
}

void run_crossing(struct lane *lane, const struct CCrossing_post *post) {
  const struct CCrossing_snapshot *snapshot = CCrossing_arena(lane->down, post->block);
  struct row *row = &lane->row;
  row->post = *post;
  row->count = post->length < sizeof *snapshot ? 0 : snapshot->followers;
  row->next = 0;
  row->followers = row->count ? snapshot_followers(snapshot) : NULL;
  run_hook(lane, post);
  while (has_followers(lane)) {
    struct CCrossing_post next = post_of(row, &row->followers[row->next++]);
    run_hook(lane, &next);
    /* The first stage is not late because of others.  The host keeps the message until it has all answers. */
    if (row->is_held && CCrossing_now() - row->held_since > LONGEST_HOLD) end_hold(lane);
  }
  end_hold(lane);
  reset_earlier(&row->earlier);
}
