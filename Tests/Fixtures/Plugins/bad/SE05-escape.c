/* Shortens the messages of errors to about 64 bytes of JSON, between characters, but also in the middle of an escape. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

enum { MOST = 64 };

static int is(crb_view word, const char *other) {
  return word.len == strlen(other) && memcmp(word.ptr, other, word.len) == 0;
}
/* Copies the result with short messages, and returns its new length. */
static size_t shorten(crb_view json, uint8_t *out) {
  size_t length = 0, depth = 0;
  int is_errors = 0, is_message = 0;
  for (size_t i = 0, end; i < json.len; i = end) {
    const uint8_t byte = json.ptr[i];
    if (byte == '{' || byte == '[') depth++;
    if (byte == '}' || byte == ']') depth--;
    end = i + 1;
    if (byte == '"') {
      for (; end < json.len && json.ptr[end] != '"'; end++) end += json.ptr[end] == '\\';
      end = end < json.len ? end + 1 : json.len;
    }
    crb_view word = {json.ptr + i, end - i};
    size_t next = end;
    while (next < json.len && strchr(" \t\r\n", json.ptr[next])) next++;
    const int is_name = byte == '"' && next < json.len && json.ptr[next] == ':';
    if (is_name && depth == 1) is_errors = is(word, "\"errors\"");
    if (byte == '"' && !is_name && is_message && word.len > MOST + 2) {
      word.len = MOST + 1;
      while ((word.ptr[word.len] & 0xC0) == 0x80) word.len--;
    }
    if (is_name) is_message = is_errors && depth == 3 && is(word, "\"message\"");
    if (out) memcpy(out + length, word.ptr, word.len);
    length += word.len;
    if (word.len == end - i) continue;
    if (out) out[length] = '"';
    length++;
  }
  return length;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  if (!result->errors.ptr) return CRB_CONTINUE;
  const size_t length = shorten(result->json, NULL);
  if (length == result->json.len) return CRB_CONTINUE;
  uint8_t *bytes;
  crb_buf buffer = host->buf_alloc(self, length, &bytes);
  if (!buffer) return CRB_E_NOMEM;
  shorten(result->json, bytes);
  return host->emit(call, CRB_EMIT_RESULT, buffer, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS (CRB_PART_JSON | CRB_PART_ERRORS)
#define MUTATES CRB_PART_JSON
#include "sound.h"
