/* Asks for __typename in each selection set, and takes braces in texts for selection sets. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

/* Copies the document with the new fields, and returns its new length. */
static size_t extend(crb_view document, uint8_t *out) {
  static const char field[] = "__typename ";
  size_t length = 0, lists = 0;
  uint8_t before = 0;
  int is_comment = 0;
  for (size_t i = 0; i < document.len; i++) {
    const uint8_t byte = document.ptr[i];
    if (out) out[length] = byte;
    length++;
    if (byte == '#') is_comment = 1;
    if (byte == '\n' || byte == '\r') is_comment = 0;
    if (is_comment || strchr(" \t\r\n,", byte)) continue;
    lists += byte == '[';
    lists -= byte == ']' && lists;
    /* Objects come after a colon or an equals sign, or in a list. */
    if (byte == '{' && !lists && before != ':' && before != '=') {
      if (out) memcpy(out + length, field, strlen(field));
      length += strlen(field);
    }
    before = byte;
  }
  return length;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view document;
  uint8_t *bytes;
  /* The root of a subscription has one field only. */
  if (host->operation_type(call) == CRB_OPERATION_SUBSCRIPTION) return CRB_CONTINUE;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK || !document.len) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(self, extend(document, NULL), &bytes);
  if (!buffer) return CRB_E_NOMEM;
  extend(document, bytes);
  return host->field_set(call, CRB_PART_DOCUMENT, buffer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_DOCUMENT
#define MUTATES CRB_PART_DOCUMENT
#include "sound.h"
