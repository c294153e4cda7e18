/* Reads lists in lists by calling itself. */
/* STATUS: CRASH */
#include <carabiner.h>

static _Thread_local volatile size_t lists;
/* Not as a loop: each level needs its own frame, as in a reader that keeps something there. */
__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static const uint8_t *read_list(const uint8_t *p, const uint8_t *end, int level) {
  volatile uint8_t frame[256];
  frame[level % 256] = 1;
  if (p < end && *p == '[') p = read_list(p + 1, end, level + 1);
  lists += frame[level % 256];
  return p;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  if (result->data.ptr) read_list(result->data.ptr, result->data.ptr + result->data.len, 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#include "sound.h"
