/* Turns the status 404 into 410, and loses all fields but Content-Type. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  if (head->status != 404) return CRB_CONTINUE;
  crb_header type = {.name = text("Content-Type")};
  crb_head gone = *head;
  gone.size = sizeof gone;
  gone.status = 410;
  gone.headers = &type;
  gone.header_count = host->header_get(call, type.name, &type.value) == CRB_OK;
  return host->set_head(call, &gone) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
