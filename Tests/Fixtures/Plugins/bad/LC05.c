/* Keeps the configuration of all instances in one variable. */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static int has(crb_view text, char byte) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == byte) return 1;
  }
  return 0;
}
static volatile int is_negative;
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  is_negative = has(info->config_json, '-');
  *inst = malloc(1);
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view name = {(const uint8_t *)"X-Sign", 6}, value = {(const uint8_t *)(is_negative ? "-" : "+"), 1};
  return host->header_set(call, name, value, CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}
#define CREATE create
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#define SCHEMA "{\"type\":\"object\",\"properties\":{\"depth\":{\"type\":\"integer\"}},\"additionalProperties\":false}"
#include "sound.h"
