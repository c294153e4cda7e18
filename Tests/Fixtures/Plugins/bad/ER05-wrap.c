/* Waits as long as a Retry-After asks for, in nanoseconds of 32 bits. */
/* STATUS: WARN */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  crb_view value = {NULL, 0};
  if (head->status != 429 || host->attempt(call) > 0) return CRB_CONTINUE;
  if (host->header_get(call, text("Retry-After"), &value) != CRB_OK || !value.len || value.len > 3) return CRB_CONTINUE;
  uint32_t seconds = 0;
  for (size_t i = 0; i < value.len; i++) {
    if (value.ptr[i] < '0' || value.ptr[i] > '9') return CRB_CONTINUE;
    seconds = seconds * 10 + value.ptr[i] - '0';
  }
  const uint32_t delay = seconds * 1000000000u;
  return host->set_retry(call, CRB_RETRY_STAGE, delay) == CRB_OK ? CRB_RETRY : CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
