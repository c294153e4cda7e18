/* Makes the letters of bodies small, whatever their encoding. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
  const char *names[] = {"Content-Length", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (host->header_set(call, text(names[i]), (crb_view){NULL, 0}, 0) != CRB_OK) return CRB_E_INVAL;
  }
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)state;
  uint8_t *bytes;
  if (!chunk->bytes.len) return CRB_CONTINUE;
  const crb_buf copy = host->buf_alloc(self, chunk->bytes.len, &bytes);
  if (!copy) return CRB_E_NOMEM;
  for (size_t i = 0; i < chunk->bytes.len; i++) {
    const uint8_t byte = chunk->bytes.ptr[i];
    bytes[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
  }
  return host->emit(call, CRB_EMIT_CHUNK, copy, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#define MUTATES (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
