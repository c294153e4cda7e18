/* A parser that takes JSON bodies and emits how long they are, correct except for the fixture's fault: AT_SEAM(reading, chunk)
 * runs before a chunk is added, and CUT_SHORT(reading) when the body does not end with its first object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host.h"

#ifndef AT_SEAM
#define AT_SEAM(reading, chunk) (void)0
#endif
#ifndef CUT_SHORT
#define CUT_SHORT(reading) return CRB_E_INVAL
#endif

typedef struct {
  size_t used, room;
  char *body;
} reading;

/* The end of the JSON value at `p`, or NULL: without names twice, and in UTF-8. */
static const char *skip(const char *p, const char *end) {
  while (p < end && strchr(" \t\r\n", *p) && *p) p++;
  return p;
}
static const char *text_end(const char *p, const char *end) {
  for (p++; p < end && *p != '"'; p++) {
    unsigned char c = (unsigned char)*p;
    int more = c < 0x80 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    if (c == '\\') p++;
    if (c < 0x20 || (c >= 0x80 && c < 0xC2) || c > 0xF4 || end - p <= more) return NULL;
    if (c == 0xED && (unsigned char)p[1] > 0x9F) return NULL;
    for (; more > 0; more--) {
      if ((*++p & 0xC0) != 0x80) return NULL;
    }
  }
  return p < end ? p + 1 : NULL;
}
static const char *value_end(const char *p, const char *end, int depth) {
  struct {
    const char *at;
    size_t length;
  } names[64];
  size_t count = 0;
  p = skip(p, end);
  if (p >= end || depth > 64) return NULL;
  if (*p == '"') return text_end(p, end);
  if (*p != '{' && *p != '[') {
    const char *start = p;
    while (p < end && *p && strchr("+-.0123456789Eaeflnrstu", *p)) p++;
    return p > start ? p : NULL;
  }
  char close = *p == '{' ? '}' : ']';
  p = skip(p + 1, end);
  if (p < end && *p == close) return p + 1;
  for (;;) {
    p = skip(p, end);
    if (close == '}') {
      const char *name = p, *after = p < end && *p == '"' ? text_end(p, end) : NULL;
      if (!after || count == 64) return NULL;
      for (size_t index = 0; index < count; index++) {
        if (names[index].length == (size_t)(after - name) && memcmp(names[index].at, name, names[index].length) == 0) return NULL;
      }
      names[count].at = name;
      names[count++].length = (size_t)(after - name);
      p = skip(after, end);
      if (p >= end || *p++ != ':') return NULL;
    }
    if (!(p = value_end(p, end, depth + 1))) return NULL;
    p = skip(p, end);
    if (p >= end) return NULL;
    if (*p == close) return p + 1;
    if (*p++ != ',') return NULL;
  }
}
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (name.len == 12 && strncasecmp((const char *)name.ptr, "content-type", 12) == 0 && value.len >= 16 &&
        memcmp(value.ptr, "application/json", 16) == 0) {
      if (!*state) *state = calloc(1, sizeof(reading));
      if (!*state) return CRB_E_NOMEM;
      ((reading *)*state)->used = 0;
      return CRB_CONTINUE;
    }
  }
  return CRB_DROP;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  reading *r = state;
  if (chunk->bytes.len > r->room - r->used) {
    size_t room = (r->used + chunk->bytes.len) * 2;
    char *more = room > 1 << 28 ? NULL : realloc(r->body, room);
    if (!more) return CRB_E_NOMEM;
    r->body = more;
    r->room = room;
  }
  AT_SEAM(r, chunk);
  if (chunk->bytes.len) memcpy(r->body + r->used, chunk->bytes.ptr, chunk->bytes.len);
  r->used += chunk->bytes.len;
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  reading *r = state;
  char answer[64];
  const char *end = r->used && r->body[0] == '{' ? value_end(r->body, r->body + r->used, 0) : NULL;
  int is_whole = end && skip(end, r->body + r->used) == r->body + r->used;
  if (!is_whole) CUT_SHORT(r);
  snprintf(answer, sizeof answer, "{\"data\":{\"length\":%zu}}", r->used);
  return emit(call, CRB_EMIT_RESULT, answer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
static void release_reading(void *inst, void *state) {
  (void)inst;
  free(((reading *)state)->body);
  free(state);
}
#define RELEASE release_reading
#define PARSER_ON_HEAD on_head
#define PARSER_ON_CHUNK on_chunk
#define PARSER_ON_END on_end
#define STAGES STAGE_PARSER
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
