/* A cache that keeps failures. */
#include <carabiner.h>
#include <pthread.h>
#include <string.h>

#define KEY_PART CRB_PART_VARIABLES
static const crb_host *host;
static crb_self self;
#define HAS_HOST
static crb_status emit(crb_call call, uint32_t kind, const char *s, uint32_t flags) {
  uint8_t *bytes;
  crb_buf b = host->buf_alloc(self, strlen(s), &bytes);
  if (!b) return CRB_E_NOMEM;
  memcpy(bytes, s, strlen(s));
  return host->emit(call, kind, b, flags);
}
/* One entry; its key is the text KEY_OF gives. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept_key[256], kept[4096];
static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view key = {NULL, 0};
  char answer[4096] = "";
  host->field_get(call, KEY_PART, &key);
  pthread_mutex_lock(&lock);
  if (kept[0] && key.len < sizeof kept_key && strlen(kept_key) == key.len && memcmp(kept_key, key.ptr, key.len) == 0) strcpy(answer, kept);
  pthread_mutex_unlock(&lock);
  if (!answer[0]) return CRB_CONTINUE;
  return emit(call, CRB_EMIT_RESULT, answer, 0) == CRB_OK ? CRB_RESPOND : CRB_CONTINUE;
}
static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  crb_view key = {NULL, 0};
  host->field_get(call, KEY_PART, &key);
  if (!result->json.ptr || key.len >= sizeof kept_key || result->json.len >= sizeof kept) return CRB_CONTINUE;
  pthread_mutex_lock(&lock);
  memset(kept_key, 0, sizeof kept_key);
  if (key.len) memcpy(kept_key, key.ptr, key.len);
  memcpy(kept, result->json.ptr, result->json.len);
  kept[result->json.len] = 0;
  pthread_mutex_unlock(&lock);
  return CRB_CONTINUE;
}
#define CACHE_ON_READ on_read
#define CACHE_ON_WRITE on_write
#define STAGES STAGE_CACHE
#define NEEDS (CRB_PART_VARIABLES | CRB_PART_JSON)
#include "sound.h"
