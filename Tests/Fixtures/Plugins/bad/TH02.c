/* Counts how many calls there are at once without a lock, and gives up when there are too many. */
#include <carabiner.h>
#include <sched.h>
#include <stdlib.h>

static volatile int inside;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  inside++;
  /* Lets the others in, also where one processor runs all threads. */
  for (volatile int i = 0; i < 20000; i++) {
    if (i % 5000 == 0) sched_yield();
  }
  int crowd = inside;
  inside--;
  return crowd > 1 ? CRB_E_INTERNAL : CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
