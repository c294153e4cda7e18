/* Keeps the view of the operation's name, and reads it when the call was a slow one. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"

typedef struct call_state {
  crb_view name;
  time_t start;
} call_state;

static time_t now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec : 0;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = calloc(1, sizeof(call_state));
  call_state *s = *state;
  if (!s) return CRB_E_NOMEM;
  s->start = now();
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &s->name) != CRB_OK) s->name = text("(anonymous)");
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  const call_state *s = state;
  if (now() - s->start < 2 || !s->name.len) return CRB_CONTINUE;
  char line[80] = "slow: ";
  for (size_t i = 0; i < s->name.len && i < 64; i++) {
    const uint8_t byte = s->name.ptr[i];
    line[6 + i] = byte >= 0x20 && byte < 0x7f ? (char)byte : '?';
  }
  host->log(self, CRB_LOG_INFO, call, text(line));
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_END on_end
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
