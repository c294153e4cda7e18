/* Releases a buffer twice. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  uint8_t *bytes;
  crb_buf buffer = host->buf_alloc(self, 8, &bytes);
  if (!buffer) return CRB_CONTINUE;
  host->buf_release(buffer);
  host->buf_release(buffer);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
