/* Reads before a view: it looks for the last byte of a chunk that is not a space, and there may be none. */
#include <carabiner.h>

#include "host.h"

static volatile uint8_t last;
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call, (void)state;
  const uint8_t *byte = chunk->bytes.ptr + chunk->bytes.len - 1;
  while (*byte == ' ' || *byte == '\n') byte--;
  last = *byte;
  return CRB_CONTINUE;
}
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#include "sound.h"
