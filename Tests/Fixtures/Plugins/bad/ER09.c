/* Writes into a buffer without looking whether it got one. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

static const crb_host *host;
static crb_self self;
#define HAS_HOST
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  uint8_t *bytes = NULL;
  crb_buf b = host->buf_alloc(self, 1, &bytes);
  *bytes = 'x';
  host->buf_release(b);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
