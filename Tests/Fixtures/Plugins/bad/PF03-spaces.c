/* Takes the white space out of results, and moves the whole rest of the text at each space. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static int is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

/* The new length. */
static size_t remove_spaces(uint8_t *text, size_t length) {
  int is_text = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') is_text = !is_text;
    if (is_text && text[i] == '\\') i++;
    if (is_text || !is_space(text[i])) continue;
    memmove(text + i, text + i + 1, length - i - 1);
    length--;
    i--;
  }
  return length;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  uint8_t *copy;
  if (!result->json.len) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(self, result->json.len, &copy), slice = 0;
  if (!buffer) return CRB_E_NOMEM;
  memcpy(copy, result->json.ptr, result->json.len);
  size_t length = remove_spaces(copy, result->json.len);
  if (length < result->json.len) slice = host->buf_slice(buffer, 0, length);
  host->buf_release(buffer);
  if (length == result->json.len) return CRB_CONTINUE;
  return slice && host->emit(call, CRB_EMIT_RESULT, slice, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_E_INTERNAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
