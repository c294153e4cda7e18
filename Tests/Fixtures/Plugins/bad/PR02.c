/* Writes to a descriptor it did not open. */
#include <carabiner.h>
#include <stdlib.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static int done;
  (void)h, (void)info, (void)why;
  if (!done++) (void)!write(3, "ready\n", 6);
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
