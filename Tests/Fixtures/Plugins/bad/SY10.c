/* Splits a text with strtok(), which keeps its place for all threads. */
#include <carabiner.h>
#include <string.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  char text[] = "a,b";
  return strtok(text, ",") ? CRB_CONTINUE : CRB_E_INVAL;
}
#define ON_END on_end
#include "sound.h"
