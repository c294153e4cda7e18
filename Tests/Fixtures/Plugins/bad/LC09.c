/* Does not expect the process to end while it is in use. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int instances;
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = malloc(1);
  if (!*inst) return CRB_E_NOMEM;
  atomic_fetch_add(&instances, 1);
  return CRB_OK;
}
static void destroy(void *inst) {
  atomic_fetch_sub(&instances, 1);
  free(inst);
}
__attribute__((destructor)) static void stop(void) {
  if (atomic_load(&instances)) __builtin_trap();
}
#define CREATE create
#define DESTROY destroy
#include "sound.h"
