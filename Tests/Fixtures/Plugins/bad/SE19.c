/* Adds a line to the request's body and leaves its Content-Length. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view body;
  uint8_t *copy;
  if (host->field_get(call, CRB_PART_BODY, &body) != CRB_OK) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(self, body.len + 1, &copy);
  if (!buffer) return CRB_E_NOMEM;
  if (body.len) memcpy(copy, body.ptr, body.len);
  copy[body.len] = '\n';
  return host->field_set(call, CRB_PART_BODY, buffer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_BODY
#define MUTATES CRB_PART_BODY
#include "sound.h"
