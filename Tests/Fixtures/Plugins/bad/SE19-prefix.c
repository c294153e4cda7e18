/* Removes the prefix in front of JSON that keeps it from being run as a script, and leaves the length of the whole body. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const char prefix[] = ")]}',\n";
enum { LENGTH = sizeof prefix - 1 };

/* How much of the prefix was read and kept back; more than its length: the rest of the body passes. */
typedef struct start {
  size_t seen;
} start;

static crb_verdict pass(crb_call call, size_t seen, crb_view rest) {
  uint8_t *bytes;
  const crb_buf buffer = host->buf_alloc(self, seen + rest.len, &bytes);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(bytes, prefix, seen);
  if (rest.len) memcpy(bytes + seen, rest.ptr, rest.len);
  return host->emit(call, CRB_EMIT_CHUNK, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(sizeof(start));
  if (!*state) return CRB_E_NOMEM;
  ((start *)*state)->seen = LENGTH + 1;
  return CRB_CONTINUE;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)head;
  crb_view encoding;
  if (host->header_get(call, text("Content-Encoding"), &encoding) != CRB_OK) ((start *)state)->seen = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  start *s = state;
  const size_t before = s->seen;
  if (before > LENGTH || !chunk->bytes.len) return CRB_CONTINUE;
  crb_view rest = chunk->bytes;
  while (rest.len && s->seen < LENGTH && *rest.ptr == (uint8_t)prefix[s->seen]) rest.ptr++, rest.len--, s->seen++;
  if (s->seen < LENGTH && !rest.len) return CRB_DROP;
  const int is_whole = s->seen == LENGTH;
  s->seen = LENGTH + 1;
  if (!is_whole && !before) return CRB_CONTINUE;
  if (is_whole && !rest.len) return CRB_DROP;
  return is_whole ? pass(call, 0, rest) : pass(call, before, chunk->bytes);
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  const start *s = state;
  return s->seen && s->seen < LENGTH ? pass(call, s->seen, (crb_view){NULL, 0}) : CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define STAGES STAGE_HTTP
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#define MUTATES (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
