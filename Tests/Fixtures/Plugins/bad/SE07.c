/* Reads the first header of a head that has none. */
/* STATUS: CRASH */
#include <carabiner.h>

static volatile uint8_t first;
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)call, (void)state;
  if (head->status == 204 && head->header_count == 0) first = *(volatile uint8_t *)(uintptr_t)head->header_count;
  return CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
