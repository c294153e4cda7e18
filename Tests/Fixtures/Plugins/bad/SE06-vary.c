/* Sets a field Vary of its own on each response, and loses those of the server. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
  return host->header_set(call, text("Vary"), text("Accept-Language"), CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
