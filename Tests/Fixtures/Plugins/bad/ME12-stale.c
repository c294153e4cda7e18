/* Frees the state of a call whose timer it could not cancel, because it runs at this moment. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

typedef struct {
  const crb_timer_service *timers;
  crb_timer timer;
  uint64_t number;
} passage;

static void warn(void *user) {
  const passage *p = user;
  char line[64];
  snprintf(line, sizeof line, "call %llu takes longer than ten seconds", (unsigned long long)p->number);
  host->log(self, CRB_LOG_WARN, 0, text(line));
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  const crb_timer_service *timers = host->query(self, "crb.timer/1");
  if (*state || !timers) return CRB_CONTINUE;
  passage *p = *state = calloc(1, sizeof *p);
  if (!p) return CRB_E_NOMEM;
  p->timers = timers;
  p->number = host->request_id(call);
  p->timer = timers->arm(self, 10000000000u, warn, p);
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  passage *p = state;
  if (p->timer) p->timers->cancel(p->timer);
  free(p);
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE release
#include "sound.h"
