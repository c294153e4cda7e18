/* Refuses responses of more than a mebibyte, and counts the bytes of all attempts together. */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

enum { MOST = 1 << 20 };
typedef struct {
  size_t length;
} body;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(body));
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  body *b = state;
  if (chunk->bytes.len <= MOST - b->length) {
    b->length += chunk->bytes.len;
    return CRB_CONTINUE;
  }
  const crb_error error = {.size = sizeof error, .http_status = 502, .flags = CRB_ERROR_LIMIT,
                           .message = text("the response has more than a mebibyte: ask for less")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_CHUNK
#include "sound.h"
