/* Sends a request again when a gateway answers with 502, also a mutation. */
#include <carabiner.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  if (head->status != 502 || host->attempt(call) > 0) return CRB_CONTINUE;
  return host->set_retry(call, CRB_RETRY_STAGE, 1000000) == CRB_OK ? CRB_RETRY : CRB_CONTINUE;
}
#define HTTP_ON_HEAD on_head
#define STAGES STAGE_HTTP
#include "sound.h"
