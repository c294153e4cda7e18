/* Assumes that a 404 has a content type. */
/* STATUS: CRASH */
#include <carabiner.h>

#include "host.h"

static volatile uint8_t first;
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  static const char name[] = "Content-Type";
  crb_view type = {NULL, 0};
  (void)inst, (void)state;
  if (head->status != 404) return CRB_CONTINUE;
  host->header_get(call, (crb_view){(const uint8_t *)name, sizeof name - 1}, &type);
  first = *(const volatile uint8_t *)type.ptr;
  return CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
