/* Copies the Authorization header into another one. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void leak(crb_call call, crb_view value) {
  uint8_t copy[128];
  memcpy(copy, value.ptr, value.len);
  host->header_set(call, text("X-Debug"), (crb_view){copy, value.len}, 0);
}
#define MUTATES CRB_PART_HEADERS
#include "sound-secret.h"
