/* Asks again when the host had no memory, but writes to the first address. */
/* STATUS: CRASH */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  uint8_t *bytes = NULL, *more = NULL;
  crb_buf buffer = host->buf_alloc(self, 8, &bytes);
  if (!buffer) buffer = host->buf_alloc(self, 8, &more);
  if (!buffer) return CRB_FAIL;
  *(volatile uint8_t *)bytes = 1;
  host->buf_release(buffer);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
