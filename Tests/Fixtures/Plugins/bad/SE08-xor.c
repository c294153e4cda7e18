/* Logs the Authorization header, each byte XORed with one number. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void leak(crb_call call, crb_view value) {
  uint8_t copy[128];
  for (size_t i = 0; i < value.len; i++) copy[i] = value.ptr[i] ^ 0x9D;
  host->log(self, CRB_LOG_DEBUG, call, (crb_view){copy, value.len});
}
#include "sound-secret.h"
