/* Knows a header in one spelling only. */
#include <carabiner.h>
#include <string.h>

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)call, (void)state;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view name = head->headers[i].name;
    if (name.len == 12 && memcmp(name.ptr, "Content-Type", 12) == 0) return CRB_CONTINUE;
  }
  return head->header_count >= 3 ? CRB_E_INVAL : CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
