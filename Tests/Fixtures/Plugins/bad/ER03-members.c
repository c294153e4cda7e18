/* Puts a member in front of the extensions at each attempt, although the one of the attempt before is still there. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static int is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  static const char member[] = "{\"booksClient\":\"shop\"";
  const size_t length = sizeof member - 1;
  (void)inst, (void)state;
  crb_view old = {NULL, 0};
  const crb_status status = host->field_get(call, CRB_PART_EXTENSIONS, &old);
  if (status != CRB_OK && status != CRB_E_NOTFOUND) return CRB_CONTINUE;
  if (!old.len) old = text("{}");
  size_t start = 0;
  while (start < old.len && is_space(old.ptr[start])) start++;
  if (start == old.len || old.ptr[start++] != '{') return CRB_CONTINUE;
  while (start < old.len && is_space(old.ptr[start])) start++;
  const size_t comma = start < old.len && old.ptr[start] != '}', rest = old.len - start;
  uint8_t *bytes;
  const crb_buf longer = host->buf_alloc(self, length + comma + rest, &bytes);
  if (!longer) return CRB_E_NOMEM;
  memcpy(bytes, member, length);
  if (comma) bytes[length] = ',';
  memcpy(bytes + length + comma, old.ptr + start, rest);
  return host->field_set(call, CRB_PART_EXTENSIONS, longer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_EXTENSIONS
#define MUTATES CRB_PART_EXTENSIONS
#include "sound.h"
