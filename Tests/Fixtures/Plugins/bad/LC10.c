/* Registers a function to be run at exit. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>

static void at_exit(void) {}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  static int done;
  if (!done++) atexit(at_exit);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
