/* Makes a baggage key of the operation's name. */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view name = {NULL, 0};
  char key[80];
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK || !name.len || name.len > 40) return CRB_CONTINUE;
  for (size_t i = 0; i < name.len; i++) {
    const uint8_t byte = name.ptr[i] | 0x20;
    if (!((byte >= 'a' && byte <= 'z') || (name.ptr[i] >= '0' && name.ptr[i] <= '9'))) return CRB_CONTINUE;
  }
  snprintf(key, sizeof key, "org.carabiner.test.%.*s", (int)name.len, (const char *)name.ptr);
  const crb_key found = host->key(self, text(key));
  const crb_value seen = {.type = CRB_VALUE_BOOL, .n = {.i = 1}};
  if (found) host->bag_set(call, found, CRB_SCOPE_CALL, &seen);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define RELEASE NULL
#define NEEDS CRB_PART_OPERATION_NAME
#include "sound.h"
