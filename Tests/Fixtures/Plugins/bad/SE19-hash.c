/* Adds a space to the document and leaves the hash of the persisted query. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view document;
  uint8_t *copy;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK || !document.len) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(self, document.len + 1, &copy);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(copy, document.ptr, document.len);
  copy[document.len] = ' ';
  return host->field_set(call, CRB_PART_DOCUMENT, buffer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_DOCUMENT
#define MUTATES CRB_PART_DOCUMENT
#include "sound.h"
