/* Leaves a descriptor open once in a thousand calls. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <fcntl.h>
#include <stdlib.h>

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  static _Atomic unsigned count;
  if (++count % 1000 == 0) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (!*state) *state = malloc(1);
  return *state ? CRB_CONTINUE : CRB_FAIL;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
