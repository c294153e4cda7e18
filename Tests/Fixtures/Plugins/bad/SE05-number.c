/* Writes the whole numbers of the data in one form, and reads them as doubles for that. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* Copies the result with other numbers, and returns its new length. */
static size_t rewrite(crb_view json, uint8_t *out) {
  size_t length = 0, depth = 0;
  int is_data = 0;
  for (size_t i = 0, end; i < json.len; i = end) {
    const uint8_t byte = json.ptr[i];
    char number[32] = "";
    if (byte == '{' || byte == '[') depth++;
    if (byte == '}' || byte == ']') depth--;
    end = i + 1;
    if (byte == '"') {
      for (; end < json.len && json.ptr[end] != '"'; end++) end += json.ptr[end] == '\\';
      end = end < json.len ? end + 1 : json.len;
      size_t next = end;
      while (next < json.len && strchr(" \t\r\n", json.ptr[next])) next++;
      const int is_name = next < json.len && json.ptr[next] == ':';
      if (depth == 1 && is_name) is_data = end - i == 6 && memcmp(json.ptr + i, "\"data\"", 6) == 0;
    } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
      while (end < json.len && json.ptr[end] && strchr("+-.0123456789Ee", json.ptr[end])) end++;
      /* Fractions, and numbers of more than 17 digits, stay as they are. */
      if (is_data && end - i <= 17) memcpy(number, json.ptr + i, end - i);
    }
    crb_view word = {json.ptr + i, end - i};
    if (number[0] && strspn(number, "-0123456789") == word.len) {
      snprintf(number, sizeof number, "%.17g", strtod(number, NULL));
      word = text(number);
    }
    if (out) memcpy(out + length, word.ptr, word.len);
    length += word.len;
  }
  return length;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  uint8_t *bytes;
  crb_buf buffer = host->buf_alloc(self, rewrite(result->json, NULL), &bytes);
  if (!buffer) return CRB_E_NOMEM;
  rewrite(result->json, bytes);
  return host->emit(call, CRB_EMIT_RESULT, buffer, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
