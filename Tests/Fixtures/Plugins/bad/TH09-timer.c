/* Leaves an interval timer behind. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  static int done;
  struct itimerval hour = {.it_value = {.tv_sec = 3600}};
  /* Not by setitimer(), because another rule checks its import. */
  if (!done++) syscall(SYS_setitimer, ITIMER_REAL, &hour, NULL);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
