/* Logs the Authorization header in base64. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void leak(crb_call call, crb_view value) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint8_t copy[512];
  size_t n = 0;
  for (size_t i = 0; i + 2 < value.len; i += 3) {
    uint32_t word = (uint32_t)value.ptr[i] << 16 | (uint32_t)value.ptr[i + 1] << 8 | value.ptr[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) copy[n++] = (uint8_t)digits[word >> shift & 63];
  }
  host->log(self, CRB_LOG_DEBUG, call, (crb_view){copy, n});
}
#include "sound-secret.h"
