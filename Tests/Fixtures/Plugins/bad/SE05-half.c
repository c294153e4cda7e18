/* Shortens descriptions to 100 characters, and takes each of the two escapes of a character beyond U+FFFF for one. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

enum { MOST = 100 };
static const char name[] = "\"description\"";

/* The end of the character at `p`, which may be an escape. */
static const uint8_t *after(const uint8_t *p, const uint8_t *end) {
  const size_t length = *p != '\\' ? 1 : end - p > 1 && p[1] == 'u' ? 6 : 2;
  p += (size_t)(end - p) < length ? (size_t)(end - p) : length;
  while (p < end && (*p & 0xC0) == 0x80) p++;
  return p;
}
/* Copies the result with short descriptions, and returns its new length. */
static size_t shorten(crb_view json, uint8_t *out) {
  const uint8_t *p = json.ptr, *end = p + json.len, *start;
  size_t length = 0;
  int is_own = 0;
  while (p < end) {
    if (*(start = p) != '"') {
      if (!strchr(" \t\r\n:", *p++)) is_own = 0;
      if (out) out[length] = *start;
      length++;
      continue;
    }
    const uint8_t *cut = ++p;
    for (size_t count = 0; p < end && *p != '"'; count++) {
      p = after(p, end);
      if (count < MOST) cut = p;
    }
    const size_t kept = (size_t)((is_own ? cut : p) - start);
    if (out) memcpy(out + length, start, kept);
    length += kept;
    if (p == end) break;
    if (out) out[length] = '"';
    length++;
    p++;
    is_own = (size_t)(p - start) == sizeof name - 1 && memcmp(start, name, sizeof name - 1) == 0;
  }
  return length;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  if (!result->json.len) return CRB_CONTINUE;
  const size_t length = shorten(result->json, NULL);
  if (length == result->json.len) return CRB_CONTINUE;
  uint8_t *bytes;
  const crb_buf buffer = host->buf_alloc(self, length, &bytes);
  if (!buffer) return CRB_E_NOMEM;
  shorten(result->json, bytes);
  return host->emit(call, CRB_EMIT_RESULT, buffer, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
