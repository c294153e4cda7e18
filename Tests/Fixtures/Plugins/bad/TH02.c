/* Counts how many calls there are at once without a lock, and gives up when there are too many. */
#include <carabiner.h>
#include <stdlib.h>

static volatile int inside;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  inside++;
  for (volatile int i = 0; i < 20000; i++) {
  }
  int crowd = inside;
  inside--;
  return crowd > 1 ? CRB_E_INTERNAL : CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
