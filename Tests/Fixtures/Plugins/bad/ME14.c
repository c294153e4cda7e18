/* Has a table of a mebibyte on the stack. */
/* STATUS: CRASH */
#include <carabiner.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  volatile char table[1 << 20];
  for (size_t index = 0; index < sizeof table; index += 4096) table[index] = 1;
  return table[4096] ? CRB_CONTINUE : CRB_E_INVAL;
}
#define ON_END on_end
#include "sound.h"
