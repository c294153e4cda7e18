/* Keeps the last result in a buffer, and does not release it when a newer result of the same query replaces it. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { PARTS = 5, KEY_ROOM = 32768 };
typedef struct {
  pthread_mutex_t lock;
  crb_buf kept;
  size_t length;
  char key[KEY_ROOM];
} cache;

/* Every part of the operation and Authorization, each with its length in front; 0 if they do not fit. */
static size_t key_of(crb_call call, char *key) {
  const uint32_t parts[] = {CRB_PART_DOCUMENT, CRB_PART_VARIABLES, CRB_PART_OPERATION_NAME, CRB_PART_EXTENSIONS};
  size_t used = 0;
  for (size_t i = 0; i < PARTS; i++) {
    crb_view part = {NULL, 0};
    const crb_status status = i < PARTS - 1 ? host->field_get(call, parts[i], &part)
                                            : host->header_get(call, text("Authorization"), &part);
    const size_t length = status == CRB_OK ? part.len : SIZE_MAX;
    if ((status != CRB_OK && status != CRB_E_NOTFOUND) || sizeof length + part.len > KEY_ROOM - used) return 0;
    memcpy(key + used, &length, sizeof length);
    if (part.len) memcpy(key + used + sizeof length, part.ptr, part.len);
    used += sizeof length + part.len;
  }
  return used;
}
static int has(const cache *c, const char *key, size_t length) {
  return length && c->length == length && memcmp(c->key, key, length) == 0;
}
static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)state;
  cache *c = inst;
  char key[KEY_ROOM];
  const size_t length = key_of(call, key);
  pthread_mutex_lock(&c->lock);
  const crb_buf json = has(c, key, length) && host->buf_retain(c->kept) == CRB_OK ? c->kept : 0;
  pthread_mutex_unlock(&c->lock);
  return json && host->emit(call, CRB_EMIT_RESULT, json, 0) == CRB_OK ? CRB_RESPOND : CRB_CONTINUE;
}
static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  cache *c = inst;
  char key[KEY_ROOM];
  uint8_t *bytes;
  const size_t length = key_of(call, key);
  const uint32_t partial = CRB_RESULT_HAS_NEXT | CRB_RESULT_INCREMENTAL | CRB_RESULT_SYNTHETIC;
  if (!length || host->operation_type(call) != CRB_OPERATION_QUERY || result->flags & partial) return CRB_CONTINUE;
  if (!result->json.len || result->errors.ptr) return CRB_CONTINUE;
  const crb_buf json = host->buf_alloc(self, result->json.len, &bytes);
  if (!json) return CRB_CONTINUE;
  memcpy(bytes, result->json.ptr, result->json.len);
  pthread_mutex_lock(&c->lock);
  if (!has(c, key, length)) {
    if (c->kept) host->buf_release(c->kept);
    memcpy(c->key, key, c->length = length);
  }
  c->kept = json;
  pthread_mutex_unlock(&c->lock);
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  cache *c = calloc(1, sizeof *c);
  if (!c) return CRB_E_NOMEM;
  pthread_mutex_init(&c->lock, NULL);
  *inst = c;
  return CRB_OK;
}
static void destroy(void *inst) {
  cache *c = inst;
  if (c->kept) host->buf_release(c->kept);
  pthread_mutex_destroy(&c->lock);
  free(c);
}
#define CACHE_ON_READ on_read
#define CACHE_ON_WRITE on_write
#define STAGES STAGE_CACHE
#define CREATE create
#define DESTROY destroy
#define NEEDS                                                                                                         \
  (CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_OPERATION_NAME | CRB_PART_EXTENSIONS | CRB_PART_HEADERS |        \
   CRB_PART_JSON | CRB_PART_ERRORS)
#include "sound.h"
