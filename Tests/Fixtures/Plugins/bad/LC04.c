/* Validates a configuration that it refuses in create(). */
#include <carabiner.h>
#include <stdlib.h>

static int has(crb_view text, char byte) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == byte) return 1;
  }
  return 0;
}
static crb_status validate(const crb_host *h, crb_view config, crb_error *why) {
  (void)h, (void)config, (void)why;
  return CRB_OK;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static const char message[] = "depth must not be negative; give a number from 0 on";
  (void)h;
  if (has(info->config_json, '-')) {
    why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
    return CRB_E_INVAL;
  }
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define VALIDATE validate
#define CREATE create
#define SCHEMA "{\"type\":\"object\",\"properties\":{\"depth\":{\"type\":\"integer\"}},\"additionalProperties\":false}"
#include "sound.h"
