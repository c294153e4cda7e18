/* Keeps a descriptor of each instance. */
#include <carabiner.h>
#include <fcntl.h>
#include <stdlib.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  (void)!open("/dev/null", O_RDONLY);
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
