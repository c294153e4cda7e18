/* Replaces "http://" in bodies, and puts what it held back of an attempt that broke off in front of the body of the next one. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const char old[] = "http://", new[] = "https://";

/* How many bytes of the old text are held back: what came last may be its beginning. */
typedef struct {
  size_t held;
} body;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
  return host->header_set(call, text("Content-Length"), (crb_view){NULL, 0}, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  body *b = state;
  uint8_t *out;
  size_t used = 0;
  const crb_buf room = host->buf_alloc(self, 2 * chunk->bytes.len + sizeof new, &out);
  if (!room) return CRB_E_NOMEM;
  for (size_t i = 0; i < chunk->bytes.len; i++) {
    const uint8_t c = chunk->bytes.ptr[i];
    if (c != (uint8_t)old[b->held]) {
      memcpy(out + used, old, b->held);
      used += b->held;
      b->held = 0;
    }
    if (c != (uint8_t)old[b->held]) {
      out[used++] = c;
    } else if (++b->held == strlen(old)) {
      memcpy(out + used, new, strlen(new));
      used += strlen(new);
      b->held = 0;
    }
  }
  const crb_buf whole = used ? host->buf_slice(room, 0, used) : 0;
  host->buf_release(room);
  if (!used) return CRB_DROP;
  return whole && host->emit(call, CRB_EMIT_CHUNK, whole, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  char rest[sizeof old] = "";
  memcpy(rest, old, ((const body *)state)->held);
  if (!rest[0]) return CRB_CONTINUE;
  return emit(call, CRB_EMIT_CHUNK, rest, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_NOMEM;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#define MUTATES (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
