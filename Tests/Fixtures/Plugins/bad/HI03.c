/* A copy of the configuration on the stack, however long it is. */
/* STATUS: CRASH */
#include <alloca.h>
#include <carabiner.h>
#include <string.h>
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  char *copy = alloca(info->config_json.len + 1);
  memcpy(copy, info->config_json.ptr, info->config_json.len);
  copy[info->config_json.len] = 0;
  *inst = NULL;
  return strlen(copy) > 0 ? CRB_OK : CRB_E_INVAL;
}
#define CREATE create
#define DESTROY NULL
#define SCHEMA "{\"type\":\"object\",\"properties\":{\"note\":{\"type\":\"string\"}}}"
#include "sound.h"
