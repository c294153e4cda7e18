/* Takes a quotation mark after any backslash for a part of the text, also if the backslash is escaped itself. */
#include <carabiner.h>
#include <stddef.h>

#include "host.h"

/* Copies JSON without the spaces outside of texts, and returns its new length. */
static size_t compact(crb_view json, uint8_t *out) {
  size_t length = 0;
  int is_text = 0;
  for (size_t i = 0; i < json.len; i++) {
    const uint8_t byte = json.ptr[i];
    if (byte == '"' && !(is_text && json.ptr[i - 1] == '\\')) is_text = !is_text;
    if (!is_text && (byte == ' ' || byte == '\n')) continue;
    if (out) out[length] = byte;
    length++;
  }
  return length;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view variables;
  if (host->field_get(call, CRB_PART_VARIABLES, &variables) != CRB_OK) return CRB_CONTINUE;
  const size_t length = compact(variables, NULL);
  uint8_t *bytes;
  crb_buf buffer = length < variables.len ? host->buf_alloc(self, length, &bytes) : 0;
  if (!buffer) return CRB_CONTINUE;
  compact(variables, bytes);
  host->field_set(call, CRB_PART_VARIABLES, buffer);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_VARIABLES
#define MUTATES CRB_PART_VARIABLES
#include "sound.h"
