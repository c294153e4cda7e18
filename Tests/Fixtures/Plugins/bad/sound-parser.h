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
  size_t used;
  char body[4096];
} reading;
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (name.len == 12 && strncasecmp((const char *)name.ptr, "content-type", 12) == 0 && value.len >= 16 &&
        memcmp(value.ptr, "application/json", 16) == 0) {
      if (!*state) *state = malloc(sizeof(reading));
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
  if (chunk->bytes.len > sizeof r->body - r->used) return CRB_E_LIMIT;
  AT_SEAM(r, chunk);
  if (chunk->bytes.len) memcpy(r->body + r->used, chunk->bytes.ptr, chunk->bytes.len);
  r->used += chunk->bytes.len;
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  reading *r = state;
  char answer[64];
  /* Whole if it begins and ends like one object, which is enough here. */
  int depth = 0, is_whole = 0;
  for (size_t i = 0, in_text = 0; i < r->used; i++) {
    char c = r->body[i];
    if (in_text) {
      if (c == '\\') i++;
      else if (c == '"') in_text = 0;
    } else if (c == '"') in_text = 1;
    else if (c == '{' || c == '[') depth++;
    else if ((c == '}' || c == ']') && --depth == 0) is_whole = i + 1 == r->used;
  }
  if (!is_whole) CUT_SHORT(r);
  snprintf(answer, sizeof answer, "{\"data\":{\"length\":%zu}}", r->used);
  return emit(call, CRB_EMIT_RESULT, answer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define PARSER_ON_HEAD on_head
#define PARSER_ON_CHUNK on_chunk
#define PARSER_ON_END on_end
#define STAGES STAGE_PARSER
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
