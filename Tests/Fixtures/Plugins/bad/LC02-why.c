/* Gives the reason of a failed creation in memory of its own stack. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>

static int has(crb_view text, char byte) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == byte) return 1;
  }
  return 0;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h;
  if (has(info->config_json, '-')) {
    char reason[64];
    int length = snprintf(reason, sizeof reason, "depth is negative in %zu bytes", info->config_json.len);
    why->message = (crb_view){(const uint8_t *)reason, (size_t)length};
    return CRB_E_INVAL;
  }
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#define SCHEMA "{\"type\":\"object\",\"properties\":{\"depth\":{\"type\":\"integer\"}},\"additionalProperties\":false}"
#include "sound.h"
