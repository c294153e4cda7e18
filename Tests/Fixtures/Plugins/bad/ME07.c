/* Writes where the host had no memory for it; only of the first buffer it makes sure. */
/* STATUS: CRASH */
#include <carabiner.h>

static const crb_host *host;
static crb_self self;
#define HAS_HOST

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  uint8_t *bytes = NULL;
  crb_buf first = host->buf_alloc(self, 8, &bytes);
  if (!first) return CRB_FAIL;
  bytes = NULL;
  crb_buf second = host->buf_alloc(self, 8, &bytes);
  *(volatile uint8_t *)bytes = 1;
  host->buf_release(first);
  host->buf_release(second);
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
