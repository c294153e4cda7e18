/* Logs the Authorization header in base64. */
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
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = 0;
  for (size_t i = 0; i + 2 < value.len; i += 3) {
    uint32_t word = (uint32_t)value.ptr[i] << 16 | (uint32_t)value.ptr[i + 1] << 8 | value.ptr[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) copy[n++] = (uint8_t)digits[word >> shift & 63];
  }
  host->log(self, CRB_LOG_DEBUG, call, (crb_view){copy, n});
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#include "sound.h"
