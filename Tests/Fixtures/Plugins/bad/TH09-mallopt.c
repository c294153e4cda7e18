/* Changes how the process allocates. */
#include <carabiner.h>
#include <malloc.h>
#include <stdlib.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  mallopt(M_MMAP_THRESHOLD, 1 << 16);
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
