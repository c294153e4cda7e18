/* Remembers each different result of a call, and has room for 64. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

typedef struct memory {
  uint32_t count;
  uint32_t seen[64];
} memory;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(sizeof(memory));
  if (!*state) return CRB_E_NOMEM;
  ((memory *)*state)->count = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  memory *m = state;
  uint32_t hash = 2166136261u, i = 0;
  (void)inst, (void)call;
  for (size_t n = 0; n < result->data.len && n < 64; n++) hash = (hash ^ result->data.ptr[n]) * 16777619u;
  while (i < m->count && m->seen[i] != hash) i++;
  if (i < m->count) return CRB_CONTINUE;
  if (i == sizeof m->seen / sizeof *m->seen) __builtin_trap();
  m->seen[m->count++] = hash;
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_DATA
#include "sound.h"
