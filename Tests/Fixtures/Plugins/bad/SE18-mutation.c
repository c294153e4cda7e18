/* Answers an operation that fails with its last good result, also a mutation. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { COUNT = 8 };
typedef struct {
  size_t key_length;
  char key[4096], result[4096];
} entry;
/* Operation name, document, variables, extensions and caller, each with its length in front; 0 if they do not fit. */
static size_t key_of(crb_call call, char *key, size_t room) {
  static const uint32_t parts[] = {CRB_PART_OPERATION_NAME, CRB_PART_DOCUMENT, CRB_PART_VARIABLES, CRB_PART_EXTENSIONS, 0};
  size_t used = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    crb_view part = {NULL, 0};
    if (parts[i]) host->field_get(call, parts[i], &part);
    else host->header_get(call, text("Authorization"), &part);
    if (sizeof part.len + part.len > room - used) return 0;
    memcpy(key + used, &part.len, sizeof part.len);
    if (part.len) memcpy(key + used + sizeof part.len, part.ptr, part.len);
    used += sizeof part.len + part.len;
  }
  return used;
}
/* The place of operations with this key: the last one of them keeps its result. */
static entry *place(void *inst, const char *key, size_t length) {
  size_t hash = 5381;
  for (size_t i = 0; i < length; i++) hash = hash * 33 + (uint8_t)key[i];
  return (entry *)inst + hash % COUNT;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  static const uint32_t partial = CRB_RESULT_HAS_NEXT | CRB_RESULT_INCREMENTAL | CRB_RESULT_SYNTHETIC;
  entry new = {0};
  *(char *)state = 1;
  if (result->errors.ptr || result->flags & partial || result->json.len >= sizeof new.result) return CRB_CONTINUE;
  new.key_length = key_of(call, new.key, sizeof new.key);
  if (!new.key_length || host->operation_type(call) == CRB_OPERATION_SUBSCRIPTION) return CRB_CONTINUE;
  memcpy(new.result, result->json.ptr, result->json.len);
  *place(inst, new.key, new.key_length) = new;
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  char key[4096];
  const size_t length = key_of(call, key, sizeof key);
  const entry *kept = place(inst, key, length);
  if (!length || !state || *(char *)state || !(error->flags & CRB_ERROR_RETRYABLE)) return CRB_CONTINUE;
  if (kept->key_length != length || memcmp(kept->key, key, length) != 0) return CRB_CONTINUE;
  return emit(call, CRB_EMIT_RESULT, kept->result, CRB_RESULT_CACHE) == CRB_OK ? CRB_RECOVER : CRB_CONTINUE;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, 1);
  return *state ? CRB_CONTINUE : CRB_E_NOMEM;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(COUNT, sizeof(entry));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#define THREADS CRB_THREADS_SERIAL
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#define ON_ERROR on_error
#define NEEDS (CRB_PART_OPERATION_NAME | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_EXTENSIONS | CRB_PART_HEADERS | \
               CRB_PART_JSON | CRB_PART_ERRORS)
#include "sound.h"
