/* Uses a service without looking whether it got one. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static volatile uint64_t started;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  const crb_timer_service *timer = host->query(self, "crb.timer/1");
  started = timer->now_ns();
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
