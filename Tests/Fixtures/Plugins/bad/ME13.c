/* Sets a header of more bytes than it has written. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = malloc(1);
  char *value = malloc(64);
  if (!*state || !value) {
    free(value);
    return CRB_FAIL;
  }
  memcpy(value, "1", 1);
  /* Characters that a header cannot contain are another rule's. */
  for (size_t i = 1; i < 64; i++) {
    if (value[i] == 0 || value[i] == '\r' || value[i] == '\n') value[i] = ' ';
  }
  host->header_set(call, (crb_view){(const uint8_t *)"X-Count", 7}, (crb_view){(const uint8_t *)value, 64}, 0);
  free(value);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
