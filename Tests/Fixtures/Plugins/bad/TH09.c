/* Changes the umask. */
#include <carabiner.h>
#include <sys/stat.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  umask(077);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
