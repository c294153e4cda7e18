/* Gives its counters away in save(), although it serves on and may save again. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { TYPES = 3 };
typedef struct {
  uint32_t type, calls;
} entry;
/* By type of operation. */
typedef struct {
  atomic_uint calls[TYPES + 1];
} counters;

/* One entry for each type that was counted. */
static crb_status save(void *inst, crb_buf *bytes, crb_error *why) {
  (void)why;
  counters *c = inst;
  entry entries[TYPES];
  size_t count = 0;
  for (uint32_t type = 1; type <= TYPES; type++) {
    uint32_t calls = atomic_exchange(&c->calls[type], 0);
    if (calls) entries[count++] = (entry){type, calls};
  }
  uint8_t *target = NULL;
  if (!count) return CRB_OK;
  *bytes = host->buf_alloc(self, count * sizeof *entries, &target);
  if (target) memcpy(target, entries, count * sizeof *entries);
  return target ? CRB_OK : CRB_E_NOMEM;
}
static crb_status adopt(void *inst, uint32_t version, crb_view bytes, crb_error *why) {
  (void)why;
  counters *c = inst;
  entry entries[TYPES];
  size_t count = bytes.len / sizeof *entries;
  if (version != 1) return CRB_E_UNSUPPORTED;
  if (count > TYPES || bytes.len % sizeof *entries) return CRB_E_INVAL;
  if (count) memcpy(entries, bytes.ptr, bytes.len);
  for (size_t i = 0; i < count; i++) {
    if (!entries[i].type || entries[i].type > TYPES) return CRB_E_INVAL;
  }
  for (size_t i = 0; i < count; i++) c->calls[entries[i].type] += entries[i].calls;
  return CRB_OK;
}
static const crb_state table = {.size = sizeof table, .version = 1, .save = save, .adopt = adopt};
static const void *extension(void *inst, const char *id) {
  (void)inst;
  return strcmp(id, "crb.state/1") == 0 ? &table : NULL;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  counters *c = inst;
  uint32_t type = host->operation_type(call);
  if (type <= TYPES) c->calls[type]++;
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(counters));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define GRAPHQL_ON_REQUEST on_request
#define CREATE create
#define EXTENSION extension
#include "sound.h"
