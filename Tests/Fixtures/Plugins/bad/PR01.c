/* Leaves a process behind. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static int done;
  (void)h, (void)info, (void)why;
  /* Not by fork(), whose import is another rule's. */
  if (!done++ && syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0) == 0) {
    for (;;) pause();
  }
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
