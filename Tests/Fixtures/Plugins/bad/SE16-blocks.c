/* Joins chunks to blocks of 4 KiB, also those of streams, whose events wait for later ones. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { BLOCK = 4096 };

typedef struct held {
  size_t length;
  uint8_t bytes[BLOCK];
} held;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(sizeof(held));
  if (!*state) return CRB_E_NOMEM;
  ((held *)*state)->length = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)call, (void)head;
  ((held *)state)->length = 0;
  return CRB_CONTINUE;
}
static crb_verdict pass(crb_call call, held *h, crb_view rest) {
  uint8_t *bytes;
  const crb_buf buffer = host->buf_alloc(self, h->length + rest.len, &bytes);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(bytes, h->bytes, h->length);
  if (rest.len) memcpy(bytes + h->length, rest.ptr, rest.len);
  h->length = 0;
  return host->emit(call, CRB_EMIT_CHUNK, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  held *h = state;
  if (h->length + chunk->bytes.len >= BLOCK) return pass(call, h, chunk->bytes);
  if (chunk->bytes.len) memcpy(h->bytes + h->length, chunk->bytes.ptr, chunk->bytes.len);
  h->length += chunk->bytes.len;
  return CRB_DROP;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  held *h = state;
  return h->length ? pass(call, h, (crb_view){NULL, 0}) : CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#define MUTATES CRB_PART_CHUNK
#include "sound.h"
