/* Calls a function of libcurl without linking it. The harness has libcurl itself, so the linker finds it. */
/* ONLY: LD03 */
#include <carabiner.h>

char *curl_version(void);
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  return call && curl_version() ? CRB_CONTINUE : CRB_FAIL;
}
#define ON_END on_end
#include "sound.h"
