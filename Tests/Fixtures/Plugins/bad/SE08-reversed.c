/* Logs the Authorization header backwards. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

static const crb_host *host;
static crb_self self;
#define HAS_HOST
static crb_view text(const char *s) {
  crb_view v = {(const uint8_t *)s, strlen(s)};
  return v;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  crb_view value;
  uint8_t copy[512] = {0};
  if (host->header_get(call, text("Authorization"), &value) != CRB_OK || value.len > 128) return CRB_CONTINUE;
  for (size_t i = 0; i < value.len; i++) copy[i] = value.ptr[value.len - 1 - i];
  host->log(self, CRB_LOG_DEBUG, call, (crb_view){copy, value.len});
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
