/* Keeps the results of the last four operations, and does not free the name of one that is replaced. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
  uint8_t *name, *json;
  size_t length;
} entries[4];
static size_t next;

static uint8_t *copy(crb_view bytes) {
  uint8_t *to = malloc(bytes.len + 1);
  if (to) memcpy(to, bytes.ptr, bytes.len);
  return to;
}
static int has(const struct entry *of, crb_view name) {
  return of->name && of->length == name.len && memcmp(of->name, name.ptr, name.len) == 0;
}
static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  crb_view name;
  if (!result->json.ptr || host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK) return CRB_CONTINUE;
  uint8_t *json = copy(result->json);
  pthread_mutex_lock(&lock);
  struct entry *to = NULL;
  for (size_t index = 0; index < 4; index++) {
    if (has(&entries[index], name)) to = &entries[index];
  }
  if (!to) {
    to = &entries[next++ % 4];
    to->name = copy(name);
    to->length = name.len;
  }
  uint8_t *old = to->json;
  to->json = json;
  pthread_mutex_unlock(&lock);
  free(old);
  return CRB_CONTINUE;
}
static void destroy(void *inst) {
  for (size_t index = 0; index < 4; index++) {
    free(entries[index].name);
    free(entries[index].json);
    entries[index] = (struct entry){0};
  }
  free(inst);
}
#define STAGES STAGE_CACHE
#define DESTROY destroy
#define CACHE_ON_WRITE on_write
#define NEEDS (CRB_PART_OPERATION_NAME | CRB_PART_JSON)
#include "sound.h"
