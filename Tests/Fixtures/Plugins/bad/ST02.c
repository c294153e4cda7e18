/* Holds each result back until the one after it has gone. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct {
  char held[512];
} stage;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(stage));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst;
  stage *s = state;
  if (!result->json.ptr || result->json.len >= sizeof s->held) return CRB_CONTINUE;
  if (!s->held[0]) {
    memcpy(s->held, result->json.ptr, result->json.len);
    s->held[result->json.len] = 0;
    return CRB_DROP;
  }
  char now[512] = "";
  memcpy(now, result->json.ptr, result->json.len);
  if (emit(call, CRB_EMIT_RESULT, now, 0) != CRB_OK) return CRB_CONTINUE;
  emit(call, CRB_EMIT_RESULT, s->held, 0);
  s->held[0] = 0;
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
