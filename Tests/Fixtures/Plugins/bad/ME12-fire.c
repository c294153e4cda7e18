/* Cancels its timer when it is destroyed, and frees its memory also if the timer had begun, which is then still to run. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "host.h"

typedef struct {
  const crb_timer_service *timers;
  atomic_uint_fast64_t timer;
  atomic_ulong times;
} instance;

static void fire(void *user) {
  instance *me = user;
  atomic_fetch_add(&me->times, 1);
  atomic_store(&me->timer, me->timers->arm(self, 200000000u, fire, me));
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  const crb_timer_service *timers = h->query(info->self, "crb.timer/1");
  instance *me = timers ? calloc(1, sizeof *me) : NULL;
  if (!me) {
    why->message = text("no timers, or no memory");
    return CRB_E_NOMEM;
  }
  me->timers = timers;
  atomic_store(&me->timer, timers->arm(self, 200000000u, fire, me));
  *inst = me;
  return CRB_OK;
}
static void destroy(void *inst) {
  instance *me = inst;
  me->timers->cancel(atomic_load(&me->timer));
  free(me);
}
#define CREATE create
#define DESTROY destroy
#include "sound.h"
