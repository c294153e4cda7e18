/* Leaves a mapping once in a hundred calls. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <sys/mman.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  static _Atomic unsigned count;
  if (++count % 100 == 0) mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
