/* Does not end when it is cancelled. */
#include <carabiner.h>
#include <stdint.h>

#include "host.h"

/* Waits for a timer, cancelled or not; what it needs it never frees, so that a late timer finds it. */
static void fire(void *user) { host->resume((crb_token)(uintptr_t)user, CRB_CONTINUE); }
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_timer_service *timer = host->query(self, "crb.timer/1");
  crb_token token = timer ? host->suspend(call) : 0;
  if (!token) return CRB_CONTINUE;
  if (!timer->arm(self, 1000000, fire, (void *)(uintptr_t)token)) host->resume(token, CRB_CONTINUE);
  return CRB_PENDING;
}
#define GRAPHQL_ON_REQUEST on_request
#define ON_CANCEL NULL
#include "sound.h"
