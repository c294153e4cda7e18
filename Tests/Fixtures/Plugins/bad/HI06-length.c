/* Takes the result of snprintf() for the length of the text in its buffer. */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  char line[256];
  int length = snprintf(line, sizeof line, "failed: %.*s", (int)error->message.len, (const char *)error->message.ptr);
  if (length > 0) host->log(self, CRB_LOG_INFO, call, (crb_view){(const uint8_t *)line, (size_t)length});
  return CRB_CONTINUE;
}
#define ON_ERROR on_error
#include "sound.h"
