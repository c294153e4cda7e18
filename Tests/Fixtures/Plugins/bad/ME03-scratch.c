/* Remembers the name of the first operation where the scratch memory of its call was, and compares later names with it. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct {
  pthread_mutex_t lock;
  const char *first;
  size_t length;
  unsigned long equal;
} instance;

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  pthread_mutex_init(&me->lock, NULL);
  *inst = me;
  return CRB_OK;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  instance *me = inst;
  crb_view name;
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK || !name.len) return CRB_CONTINUE;
  char *copy = host->scratch(call, name.len, 1);
  if (!copy) return CRB_CONTINUE;
  memcpy(copy, name.ptr, name.len);
  pthread_mutex_lock(&me->lock);
  if (!me->first) {
    me->first = copy;
    me->length = name.len;
  } else if (me->length == name.len && memcmp(me->first, copy, name.len) == 0) {
    me->equal++;
  }
  pthread_mutex_unlock(&me->lock);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_OPERATION_NAME
#define CREATE create
#include "sound.h"
