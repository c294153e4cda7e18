/* Reads a value although the call was over. */
/* STATUS: CRASH */
#include <carabiner.h>
#define HAS_HOST
static const crb_host *host;
static crb_self self;
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  crb_view value = {(const uint8_t *)8, 1};
  crb_status status = host->header_get(call, (crb_view){(const uint8_t *)"X-Request", 9}, &value);
  if (status == CRB_OK || status == CRB_E_STALE) {
    if (value.len > 0 && *(const volatile uint8_t *)value.ptr == 0) return CRB_CONTINUE;
  }
  return CRB_CONTINUE;
}
#define ON_END on_end
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
