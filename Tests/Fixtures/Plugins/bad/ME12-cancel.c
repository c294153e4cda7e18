/* Frees the beginning of a body that it keeps for the log as soon as the call is cancelled, while a chunk may be copied to it. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { MOST = 4096 };
typedef struct {
  size_t length;
  uint8_t *bytes;
} body;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  body *b = *state;
  if (!b) return CRB_E_NOMEM;
  b->length = 0;
  if (!b->bytes) b->bytes = malloc(MOST);
  return b->bytes ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  body *b = state;
  const size_t room = MOST - b->length, count = chunk->bytes.len < room ? chunk->bytes.len : room;
  if (!count || !b->bytes) return CRB_CONTINUE;
  memcpy(b->bytes + b->length, chunk->bytes.ptr, count);
  b->length += count;
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  const body *b = state;
  if (b->bytes) host->log(self, CRB_LOG_DEBUG, call, (crb_view){b->bytes, b->length});
  return CRB_CONTINUE;
}
static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)call;
  body *b = state;
  if (!b) return;
  free(b->bytes);
  b->bytes = NULL;
}
static void release(void *inst, void *state) {
  (void)inst;
  free(((body *)state)->bytes);
  free(state);
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define ON_END on_end
#define ON_CANCEL on_cancel
#define RELEASE release
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#include "sound.h"
