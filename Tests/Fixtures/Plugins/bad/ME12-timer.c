/* Leaves its timer armed when it is destroyed. */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

typedef struct {
  const crb_timer_service *timers;
  _Atomic int is_armed;
  unsigned long calls;
} instance;

static void fire(void *user) {
  instance *me = user;
  me->calls = 0;
  me->is_armed = 0;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)call, (void)state;
  instance *me = inst;
  if (!me->is_armed) {
    me->is_armed = 1;
    if (!me->timers->arm(self, 60000000000u, fire, me)) me->is_armed = 0;
  }
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  const crb_timer_service *timers = h->query(info->self, "crb.timer/1");
  instance *me = timers ? calloc(1, sizeof *me) : NULL;
  if (!me) {
    why->message = text("no timers, or no memory");
    return CRB_E_NOMEM;
  }
  me->timers = timers;
  *inst = me;
  return CRB_OK;
}
#define ON_END on_end
#define CREATE create
#include "sound.h"
