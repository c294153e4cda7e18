/* Looks at the whole body at every chunk. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct {
  size_t chunks;
} body;
static _Thread_local volatile unsigned sum;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call, (void)chunk;
  body *b = state;
  b->chunks++;
  for (size_t i = 0; i < b->chunks * 64; i++) sum += (unsigned)i;
  return CRB_CONTINUE;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#include "sound.h"
