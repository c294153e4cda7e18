/* Never releases its buffers. */
#include <carabiner.h>
#include <stdatomic.h>

#include "host.h"

static atomic_int made;
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  uint8_t *bytes;
  /* Not for ever: what the host loses by it is another rule's. */
  if (atomic_fetch_add(&made, 1) < 100 && host->buf_alloc(self, 8, &bytes)) bytes[0] = 1;
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
