/* Remembers the name of every operation. */
/* STATUS: WARN */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name {
  struct name *next;
  size_t length;
  char text[];
} *buckets[4096];
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view name;
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK) return CRB_CONTINUE;
  unsigned hash = 0;
  for (size_t index = 0; index < name.len; index++) hash = hash * 31 + name.ptr[index];
  pthread_mutex_lock(&lock);
  struct name **place = &buckets[hash % 4096], *known = *place;
  while (known && (known->length != name.len || memcmp(known->text, name.ptr, name.len) != 0)) known = known->next;
  if (!known && (known = malloc(sizeof *known + name.len))) {
    known->length = name.len;
    memcpy(known->text, name.ptr, name.len);
    known->next = *place;
    *place = known;
  }
  pthread_mutex_unlock(&lock);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
