/* Reads the first byte of an error message that may not be there. */
/* STATUS: CRASH */
#include <carabiner.h>

static volatile uint8_t first;
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)call, (void)state;
  if (error->message.len == 0 && !error->message.ptr) first = *(const volatile uint8_t *)error->message.ptr;
  return CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
