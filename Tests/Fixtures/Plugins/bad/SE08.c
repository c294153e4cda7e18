/* Logs the Authorization header. */
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
  if (host->header_get(call, text("Authorization"), &value) == CRB_OK) host->log(self, CRB_LOG_DEBUG, call, value);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
