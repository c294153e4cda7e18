/* A cache with one entry for each instance, correct except for the fixture's fault: KEY_PARTS are the parts of the operation that are its
 * key beside Authorization, and KEEPS(call, result) says whether it keeps a result. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define ALL_PARTS CRB_PART_DOCUMENT, CRB_PART_VARIABLES, CRB_PART_OPERATION_NAME, CRB_PART_EXTENSIONS
#ifndef KEY_PARTS
#define KEY_PARTS ALL_PARTS
#endif
#define ONLY_QUERIES(call) (host->operation_type(call) == CRB_OPERATION_QUERY)
#define ONLY_WHOLE(result) (!((result)->flags & (CRB_RESULT_HAS_NEXT | CRB_RESULT_INCREMENTAL | CRB_RESULT_SYNTHETIC)))
#define ONLY_GOOD(result) (!(result)->errors.ptr)
/* So many bytes of Authorization are in the key. */
#ifndef AUTHORIZATION_BYTES
#define AUTHORIZATION_BYTES SIZE_MAX
#endif
#ifndef KEEPS
#define KEEPS(call, result) (ONLY_QUERIES(call) && ONLY_WHOLE(result) && ONLY_GOOD(result))
#endif
#define NEEDS                                                                                                         \
  (CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_OPERATION_NAME | CRB_PART_EXTENSIONS | CRB_PART_HEADERS |        \
   CRB_PART_JSON | CRB_PART_ERRORS)

typedef struct {
  pthread_mutex_t lock;
  size_t length;
  char key[32768], kept[4096];
} cache;
/* Every part with its length in front; 0 if it does not fit. */
static size_t key_of(crb_call call, char *key, size_t room) {
  static const uint32_t parts[] = {KEY_PARTS};
  size_t used = 0;
  for (size_t index = 0; index <= sizeof parts / sizeof *parts; index++) {
    crb_view part = {NULL, 0}, name = {(const uint8_t *)"Authorization", 13};
    if (index < sizeof parts / sizeof *parts) host->field_get(call, parts[index], &part);
    else if (host->header_get(call, name, &part) == CRB_OK && part.len > AUTHORIZATION_BYTES) part.len = AUTHORIZATION_BYTES;
    size_t length = part.ptr ? part.len : SIZE_MAX;
    if (sizeof length + part.len > room - used) return 0;
    memcpy(key + used, &length, sizeof length);
    if (part.len) memcpy(key + used + sizeof length, part.ptr, part.len);
    used += sizeof length + part.len;
  }
  return used;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  cache *c = calloc(1, sizeof *c);
  if (!c) return CRB_E_NOMEM;
  pthread_mutex_init(&c->lock, NULL);
  *inst = c;
  return CRB_OK;
}
static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)state;
  cache *c = inst;
  char answer[4096] = "", key[sizeof c->key];
  size_t length = key_of(call, key, sizeof key);
  pthread_mutex_lock(&c->lock);
  if (length && c->kept[0] && c->length == length && memcmp(c->key, key, length) == 0) strcpy(answer, c->kept);
  pthread_mutex_unlock(&c->lock);
  if (!answer[0]) return CRB_CONTINUE;
  return emit(call, CRB_EMIT_RESULT, answer, 0) == CRB_OK ? CRB_RESPOND : CRB_CONTINUE;
}
static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  cache *c = inst;
  char key[sizeof c->key];
  size_t length = key_of(call, key, sizeof key);
  if (!result->json.ptr || !length || result->json.len >= sizeof c->kept) return CRB_CONTINUE;
  if (!KEEPS(call, result)) return CRB_CONTINUE;
  pthread_mutex_lock(&c->lock);
  memcpy(c->key, key, c->length = length);
  memcpy(c->kept, result->json.ptr, result->json.len);
  c->kept[result->json.len] = 0;
  pthread_mutex_unlock(&c->lock);
  return CRB_CONTINUE;
}
#define CACHE_ON_READ on_read
#define CACHE_ON_WRITE on_write
#define STAGES STAGE_CACHE
#define CREATE create
#include "sound.h"
