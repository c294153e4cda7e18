/* Holds small chunks to pass them on together, and lets a large one overtake them. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { LARGE = 4096 };
typedef struct held {
  size_t count;
  uint8_t bytes[LARGE];
} held;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(sizeof(held));
  if (!*state) return CRB_E_NOMEM;
  ((held *)*state)->count = 0;
  return CRB_CONTINUE;
}
static crb_status pass(crb_call call, held *all) {
  uint8_t *bytes;
  crb_buf buffer = host->buf_alloc(self, all->count, &bytes);
  if (!buffer) return CRB_E_NOMEM;
  memcpy(bytes, all->bytes, all->count);
  all->count = 0;
  return host->emit(call, CRB_EMIT_CHUNK, buffer, 0);
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  held *all = state;
  if (chunk->bytes.len >= LARGE) return CRB_CONTINUE;
  const int is_full = all->count + chunk->bytes.len > LARGE;
  if (is_full && pass(call, all) != CRB_OK) return CRB_E_INVAL;
  if (chunk->bytes.len) memcpy(all->bytes + all->count, chunk->bytes.ptr, chunk->bytes.len);
  all->count += chunk->bytes.len;
  return is_full ? CRB_CONTINUE : CRB_DROP;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  held *all = state;
  if (all->count && pass(call, all) != CRB_OK) return CRB_E_INVAL;
  return CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#define MUTATES CRB_PART_CHUNK
#include "sound.h"
