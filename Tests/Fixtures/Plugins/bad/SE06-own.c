/* Sets a cookie of its own in place of all others. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
  return host->header_set(call, text("Set-Cookie"), text("node=7"), CRB_HEADER_SENSITIVE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
