/* Reads Retry-After into a buffer that has room for a number of seconds, but not for a date. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static atomic_long busy;
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  char seconds[16] = "";
  crb_view value;
  if (head->status != 429 && head->status != 503) return CRB_CONTINUE;
  if (host->header_get(call, text("Retry-After"), &value) != CRB_OK || !value.len) return CRB_CONTINUE;
  memcpy(seconds, value.ptr, value.len);
  atomic_store(&busy, strtol(seconds, NULL, 10));
  return CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
