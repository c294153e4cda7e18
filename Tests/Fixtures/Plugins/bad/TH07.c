/* Starts a thread and leaves it running. */
/* STATUS: WARN */
#include <carabiner.h>
#include <pthread.h>
#include <unistd.h>

static void *work(void *nothing) {
  (void)nothing;
  for (;;) pause();
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  static _Atomic int started;
  pthread_t thread;
  if (!started++ && pthread_create(&thread, NULL, work, NULL) == 0) pthread_detach(thread);
  *inst = NULL;
  return CRB_OK;
}
#define CREATE create
#define DESTROY NULL
#include "sound.h"
