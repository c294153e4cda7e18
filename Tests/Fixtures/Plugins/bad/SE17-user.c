/* Sets X-User-Id to the user of a Basic authorization, and leaves the one of a client that sends no authorization. */
/* STATUS: WARN */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static int sextet(uint8_t c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c ? strchr(digits, c) : NULL;
  return found ? (int)(found - digits) : -1;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view value;
  if (host->header_get(call, text("Authorization"), &value) != CRB_OK) return CRB_CONTINUE;
  if (value.len < 6 || memcmp(value.ptr, "Basic ", 6) != 0) return CRB_CONTINUE;
  char user[32];
  size_t n = 0;
  uint32_t bits = 0, held = 0;
  for (size_t i = 6; i < value.len && n < sizeof user; i++) {
    const int six = sextet(value.ptr[i]);
    if (six < 0) return CRB_CONTINUE;
    bits = bits << 6 | (uint32_t)six;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    user[n] = (char)(bits >> held);
    if (user[n] == ':') break;
    if (user[n++] < '0') return CRB_CONTINUE;
  }
  if (n == sizeof user) return CRB_CONTINUE;
  const crb_view own = {(const uint8_t *)user, n};
  return host->header_set(call, text("X-User-Id"), own, CRB_HEADER_SENSITIVE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
