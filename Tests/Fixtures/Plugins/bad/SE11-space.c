/* A parser of events that takes only lines with a space after "data:" as data. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host.h"

typedef struct {
  size_t used, room;
  char *bytes;
} buffer;
typedef struct {
  buffer line, data;
  int has_line;
  char last;
} reading;

static int append(buffer *b, const void *bytes, size_t n) {
  if (n > (16u << 20) - b->used) return 0;
  if (n > b->room - b->used) {
    char *more = realloc(b->bytes, (b->used + n) * 2);
    if (!more) return 0;
    b->bytes = more;
    b->room = (b->used + n) * 2;
  }
  if (n) memcpy(b->bytes + b->used, bytes, n);
  b->used += n;
  return 1;
}
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  static const char mine[] = "text/event-stream";
  const size_t n = sizeof mine - 1;
  (void)inst;
  crb_view type;
  if (head->status / 100 != 2 || host->header_get(call, text("Content-Type"), &type) != CRB_OK) return CRB_DROP;
  if (type.len < n || strncasecmp((const char *)type.ptr, mine, n) != 0) return CRB_DROP;
  if (type.len > n && !memchr("; \t", type.ptr[n], 3)) return CRB_DROP;
  if (host->operation_type(call) != CRB_OPERATION_SUBSCRIPTION) return CRB_DROP;
  if (!*state) *state = calloc(1, sizeof(reading));
  reading *r = *state;
  if (!r) return CRB_E_NOMEM;
  r->line.used = r->data.used = 0;
  r->has_line = r->last = 0;
  return CRB_CONTINUE;
}
/* Takes the line. */
static crb_status end_line(crb_call call, reading *r) {
  const int has_mark = !r->has_line && r->line.used >= 3 && memcmp(r->line.bytes, "\xEF\xBB\xBF", 3) == 0;
  const char *line = has_mark ? r->line.bytes + 3 : r->line.bytes;
  const size_t n = has_mark ? r->line.used - 3 : r->line.used;
  r->has_line = 1;
  r->line.used = 0;
  if (n >= 6 && memcmp(line, "data: ", 6) == 0) {
    if (r->data.used && !append(&r->data, "\n", 1)) return CRB_E_NOMEM;
    return append(&r->data, line + 6, n - 6) ? CRB_OK : CRB_E_NOMEM;
  }
  if (n || !r->data.used) return CRB_OK;
  uint8_t *bytes;
  const crb_buf json = host->buf_alloc(self, r->data.used, &bytes);
  if (!json) return CRB_E_NOMEM;
  memcpy(bytes, r->data.bytes, r->data.used);
  r->data.used = 0;
  return host->emit(call, CRB_EMIT_RESULT, json, CRB_RESULT_HAS_NEXT);
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  reading *r = state;
  for (size_t i = 0; i < chunk->bytes.len; i++) {
    const char c = (char)chunk->bytes.ptr[i];
    crb_status status = CRB_OK;
    if (c != '\r' && c != '\n') status = append(&r->line, &c, 1) ? CRB_OK : CRB_E_NOMEM;
    else if (c == '\r' || r->last != '\r') status = end_line(call, r);
    if (status != CRB_OK) return status;
    r->last = c;
  }
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  reading *r = state;
  free(r->line.bytes);
  free(r->data.bytes);
  free(r);
}
#define PARSER_ON_HEAD on_head
#define PARSER_ON_CHUNK on_chunk
#define RELEASE release
#define STAGES STAGE_PARSER
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
