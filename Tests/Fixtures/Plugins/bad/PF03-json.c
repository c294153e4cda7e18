/* Counts the braces of a JSON body from its beginning at every chunk, to see whether it is complete. Other bodies cost nothing. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 << 20 };
typedef struct body {
  size_t count;
  uint8_t *bytes;
} body;

static _Thread_local volatile int depth;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  if (!*state) return CRB_E_NOMEM;
  ((body *)*state)->count = 0;
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  body *b = state;
  if (!chunk->bytes.len || chunk->bytes.len > MOST - b->count) return CRB_CONTINUE;
  if (!b->count && chunk->bytes.ptr[0] != '{') return CRB_CONTINUE;
  if (!b->bytes && !(b->bytes = malloc(MOST))) return CRB_E_NOMEM;
  memcpy(b->bytes + b->count, chunk->bytes.ptr, chunk->bytes.len);
  b->count += chunk->bytes.len;
  depth = 0;
  for (size_t i = 0; i < b->count; i++) depth += (b->bytes[i] == '{') - (b->bytes[i] == '}');
  return CRB_CONTINUE;
}
static void release(void *inst, void *state) {
  (void)inst;
  body *b = state;
  if (b) free(b->bytes);
  free(b);
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define RELEASE release
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#include "sound.h"
