/* Reads a view of a call that was over two thousand calls ago. */
#include <carabiner.h>
#include <stdlib.h>

static volatile uint8_t first;
static crb_view kept;
static unsigned age;
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  /* Large ones go back to the system when they are freed. */
  if (!kept.len && result->data.len < 1024) kept = result->data;
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  if (++age == 2000 && kept.len) first = *kept.ptr;
  free(state);
}
#define NEEDS CRB_PART_DATA
#define GRAPHQL_ON_RESULT on_result
#define RELEASE release
#include "sound.h"
