/* Functions of the host: logs.  A line of a hook travels with its answer; others are sent at once. */
#define _GNU_SOURCE
#include "worker.h"

int32_t log_enabled(crb_self who, uint32_t level) {
  struct member member;
  if (level > CRB_LOG_ERROR || !find_self(who, &member)) return 0;
  return (int32_t)(atomic_load_explicit(&control.down->levels, memory_order_relaxed) >> level & 1);
}

/* Adds the line to the answer of the hook that this thread is in.  Returns 0 if it is in none. */
static int add_to_answer(uint32_t instance, uint32_t level, crb_call handle, crb_view message) {
  crb_call of = handle ? handle : running_call ? atomic_load(&running_call->id) : 0;
  crb_status status;
  struct call *call = of ? enter(of, &status) : NULL;
  if (!call) return 0;
  int is_its = call->post.instance == instance;
  struct CCrossing_record record = {.kind = CCROSSING_LOG_LINE, .a = level, .b = handle == 0};
  if (is_its) {
    stage(call, &record, (crb_view){NULL, 0}, message);
    if (call == running_call) CCrossing_addLine(atomic_load(&call->lane)->up, call->post.generation, message.ptr, message.len);
  }
  leave(call);
  return is_its;
}

void log_line(crb_self who, uint32_t level, crb_call call, crb_view message) {
  struct member member;
  if (!log_enabled(who, level) || !find_self(who, &member)) return;
  if (!message.ptr || !has_length(message)) message = text_of("");
  if (message.len > MOST_LOG_BYTES) message.len = MOST_LOG_BYTES;
  if (add_to_answer(member.instance, level, call, message)) return;
  struct records line = {0};
  struct CCrossing_record record = {.kind = CCROSSING_LINE};
  if (add_record(&line, &record, (crb_view){NULL, 0}, message)) {
    ask(CCROSSING_LOG, member.instance, level, call ? request_id(call) : 0, &line, 0);
  }
  free_records(&line);
}
