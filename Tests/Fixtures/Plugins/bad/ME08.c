/* Writes where malloc() had no memory for it. */
/* STATUS: WARN */
#include <carabiner.h>
#include <stdlib.h>

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  *(volatile char *)*state = 1;
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
