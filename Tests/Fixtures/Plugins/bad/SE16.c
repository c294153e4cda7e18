/* Replaces a word in each chunk, but not where it begins in one chunk and ends in the next. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)state;
  if (!chunk->bytes.len) return CRB_CONTINUE;
  uint8_t *found = memmem(chunk->bytes.ptr, chunk->bytes.len, "http://", 7), *copy;
  if (!found) return CRB_CONTINUE;
  size_t at = (size_t)(found - chunk->bytes.ptr);
  crb_buf buffer = host->buf_alloc(self, chunk->bytes.len, &copy);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(copy, chunk->bytes.ptr, chunk->bytes.len);
  memcpy(copy + at, "link://", 7);
  return host->emit(call, CRB_EMIT_CHUNK, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#define MUTATES CRB_PART_CHUNK
#include "sound.h"
