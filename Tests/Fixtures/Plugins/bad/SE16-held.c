/* Keeps the whole of a body back until its end, also that of a stream. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct body {
  size_t length;
  uint8_t *bytes;
} body;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  if (!*state) return CRB_E_NOMEM;
  ((body *)*state)->length = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  body *b = state;
  if (!chunk->bytes.len) return CRB_DROP;
  uint8_t *more = realloc(b->bytes, b->length + chunk->bytes.len);
  if (!more) return CRB_E_NOMEM;
  b->bytes = more;
  memcpy(b->bytes + b->length, chunk->bytes.ptr, chunk->bytes.len);
  b->length += chunk->bytes.len;
  return CRB_DROP;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  const body *b = state;
  uint8_t *bytes;
  if (!b->length) return CRB_CONTINUE;
  const crb_buf copy = host->buf_alloc(self, b->length, &bytes);
  if (!copy) return CRB_E_NOMEM;
  memcpy(bytes, b->bytes, b->length);
  return host->emit(call, CRB_EMIT_CHUNK, copy, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
static void release(void *inst, void *state) {
  (void)inst;
  body *b = state;
  if (b) free(b->bytes);
  free(b);
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define RELEASE release
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#define MUTATES CRB_PART_CHUNK
#include "sound.h"
