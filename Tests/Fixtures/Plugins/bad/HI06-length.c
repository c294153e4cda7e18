/* Takes the result of snprintf() for the length of the text in its part of a buffer. */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  char lines[16384];
  int length = snprintf(lines, 256, "failed: %.*s", (int)error->message.len, (const char *)error->message.ptr);
  if (length > 0 && (size_t)length < sizeof lines) host->log(self, CRB_LOG_INFO, call, (crb_view){(const uint8_t *)lines, (size_t)length});
  return CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
