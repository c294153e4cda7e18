/* Counts its calls and hands the count over to the next instance. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ID "org.carabiner.test.good-state"
static const crb_host *host;
static crb_self self;
#define HAS_HOST

typedef struct instance {
  crb_self self;
  _Atomic uint64_t count;
} instance;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)call, (void)state;
  atomic_fetch_add(&((instance *)inst)->count, 1);
  return CRB_CONTINUE;
}
static crb_status save(void *inst, crb_buf *bytes, crb_error *why) {
  static const char message[] = "there is no memory for eight bytes; ask again";
  instance *i = inst;
  uint8_t *target = NULL;
  crb_buf made = host->buf_alloc(i->self, sizeof(uint64_t), &target);
  if (!target) {
    why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
    return CRB_E_NOMEM;
  }
  uint64_t count = atomic_load(&i->count);
  memcpy(target, &count, sizeof count);
  *bytes = made;
  return CRB_OK;
}
static crb_status adopt(void *inst, uint32_t version, crb_view bytes, crb_error *why) {
  static const char message[] = "this state is not one of eight bytes";
  uint64_t count;
  if (version != 1) return CRB_E_UNSUPPORTED;
  if (bytes.len != sizeof count) {
    why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
    return CRB_E_INVAL;
  }
  memcpy(&count, bytes.ptr, sizeof count);
  atomic_store(&((instance *)inst)->count, count);
  return CRB_OK;
}
static const crb_state handover = {.size = sizeof handover, .version = 1, .save = save, .adopt = adopt};
static const void *extension(void *inst, const char *id) {
  (void)inst;
  return strcmp(id, "crb.state/1") == 0 ? &handover : NULL;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  instance *i = calloc(1, sizeof *i);
  (void)h, (void)why;
  if (!i) return CRB_E_NOMEM;
  i->self = info->self;
  *inst = i;
  return CRB_OK;
}
#define GRAPHQL_ON_REQUEST on_request
#define CREATE create
#define EXTENSION extension
#include "../bad/sound.h"
