/* An HTTP stage that answers a request with the response to an equal one, correct except for the fixture's fault: it keeps one whole
 * response for each instance.  The fixture includes carabiner.h, defines HAS_NO_CALLER if Authorization is not in the key, or KEEPS_PIECES if
 * a body that broke off is kept, and includes this file last. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host.h"

typedef struct {
  int is_good;
  size_t key_length, length;
  char key[32768], body[8192];
} entry;

static int is(crb_view v, const char *s) { return v.len == strlen(s) && strncasecmp((const char *)v.ptr, s, v.len) == 0; }

/* Method, URL, body and Authorization, each with its length in front; 0 if they do not fit. */
#ifdef HAS_NO_CALLER
#define KEY_PARTS CRB_PART_METHOD, CRB_PART_URL, CRB_PART_BODY
#else
#define KEY_PARTS CRB_PART_METHOD, CRB_PART_URL, CRB_PART_BODY, CRB_PART_HEADERS
#endif
static size_t key_of(crb_call call, char *key, size_t room) {
  static const uint32_t parts[] = {KEY_PARTS};
  size_t used = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    crb_view part = {NULL, 0};
    const crb_status status = parts[i] == CRB_PART_HEADERS ? host->header_get(call, text("Authorization"), &part)
                                                           : host->field_get(call, parts[i], &part);
    const size_t length = status == CRB_OK ? part.len : SIZE_MAX;
    if ((status != CRB_OK && status != CRB_E_NOTFOUND) || part.len + sizeof length > room - used) return 0;
    memcpy(key + used, &length, sizeof length);
    if (part.len) memcpy(key + used + sizeof length, part.ptr, part.len);
    used += sizeof length + part.len;
  }
  return used;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(entry));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const entry *kept = inst;
  if (!*state) *state = malloc(sizeof(entry));
  entry *e = *state;
  if (!e) return CRB_E_NOMEM;
  e->is_good = 0;
  e->length = 0;
  e->key_length = host->operation_type(call) == CRB_OPERATION_QUERY ? key_of(call, e->key, sizeof e->key) : 0;
  if (!e->key_length || kept->key_length != e->key_length || memcmp(kept->key, e->key, e->key_length) != 0) return CRB_CONTINUE;
  const crb_header type = {.name = text("Content-Type"), .value = text("application/json")};
  const crb_head head = {.size = sizeof head, .status = 200, .headers = &type, .header_count = 1};
  uint8_t *bytes;
  const crb_buf body = host->set_head(call, &head) == CRB_OK ? host->buf_alloc(self, kept->length, &bytes) : 0;
  if (!body) return CRB_E_NOMEM;
  memcpy(bytes, kept->body, kept->length);
  return host->emit(call, CRB_EMIT_CHUNK, body, 0) == CRB_OK ? CRB_RESPOND : CRB_E_INVAL;
}
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)call;
  entry *e = state;
  e->is_good = head->status == 200;
  for (size_t i = 0; i < head->header_count; i++) {
    const crb_view name = head->headers[i].name, value = head->headers[i].value;
    if (is(name, "Content-Type") && !is(value, "application/json")) e->is_good = 0;
    const int is_private = memmem(value.ptr, value.len, "no-", 3) || memmem(value.ptr, value.len, "private", 7);
    if (is(name, "Cache-Control") && is_private) e->is_good = 0;
    if (is(name, "Content-Encoding") || is(name, "Vary")) e->is_good = 0;
  }
  return CRB_CONTINUE;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  entry *e = state;
  if (chunk->bytes.len > sizeof e->body - e->length) e->is_good = 0;
  if (!e->is_good || !chunk->bytes.len) return CRB_CONTINUE;
  memcpy(e->body + e->length, chunk->bytes.ptr, chunk->bytes.len);
  e->length += chunk->bytes.len;
  return CRB_CONTINUE;
}
static void keep(void *inst, const void *state) {
  entry *kept = inst;
  const entry *e = state;
  if (e->is_good && e->key_length && e->length) *kept = *e;
}
#ifdef KEEPS_PIECES
static void release(void *inst, void *state) {
  keep(inst, state);
  free(state);
}
#define RELEASE release
#else
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)call;
  keep(inst, state);
  return CRB_CONTINUE;
}
#define ON_END on_end
#endif
#define HTTP_ON_REQUEST on_request
#define HTTP_ON_HEAD on_head
#define HTTP_ON_CHUNK on_chunk
#define STAGES STAGE_HTTP
#define THREADS CRB_THREADS_SERIAL
#define NEEDS (CRB_PART_METHOD | CRB_PART_URL | CRB_PART_BODY | CRB_PART_HEADERS | CRB_PART_CHUNK)
#define CREATE create
#include "sound.h"
