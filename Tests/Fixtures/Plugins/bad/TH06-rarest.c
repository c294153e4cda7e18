/* Sleeps in one of 20,000 calls. */
/* ONLY: TH06 */
/* ARGUMENTS: --effort 1 */
#include <carabiner.h>
#include <stdlib.h>
#include <time.h>

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  static _Atomic unsigned count;
  struct timespec nap = {.tv_nsec = 150000000};
  if (++count % 20000 == 0) nanosleep(&nap, NULL);
  if (!*state) *state = malloc(1);
  return *state ? CRB_CONTINUE : CRB_FAIL;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
