/* Trusts the length in a state, and crashes. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const uint8_t learnt[] = {4, 0, 0, 0, 1, 2, 3, 4};

static crb_status save(void *inst, crb_buf *bytes, crb_error *why) {
  uint8_t *target = NULL;
  (void)inst, (void)why;
  *bytes = host->buf_alloc(self, sizeof learnt, &target);
  if (target) memcpy(target, learnt, sizeof learnt);
  return target ? CRB_OK : CRB_E_NOMEM;
}
static crb_status adopt(void *inst, uint32_t version, crb_view bytes, crb_error *why) {
  uint32_t count = 0;
  (void)inst, (void)why;
  if (version > 1) return CRB_E_UNSUPPORTED;
  if (bytes.len < sizeof count) return CRB_E_INVAL;
  memcpy(&count, bytes.ptr, sizeof count);
  uint8_t *copy = malloc(count);
  if (!copy) return CRB_E_NOMEM;
  /* One byte for each it is said to have. */
  for (uint32_t i = 0; i < count; i++) ((volatile uint8_t *)copy)[i] = bytes.ptr[sizeof count + i];
  free(copy);
  return CRB_OK;
}
static const crb_state state = {.size = sizeof state, .version = 1, .save = save, .adopt = adopt};
static const void *extension(void *inst, const char *id) {
  (void)inst;
  return strcmp(id, "crb.state/1") == 0 ? &state : NULL;
}
#define EXTENSION extension
#include "sound.h"
