/* Answers otherwise every time. */
/* STATUS: WARN */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  static _Atomic unsigned count;
  char value[16];
  snprintf(value, sizeof value, "%u", count++);
  host->header_set(call, text("X-Count"), text(value), 0);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#define THREADS CRB_THREADS_SERIAL
#include "sound.h"
