/* Hides the first mail address of a result, and no other one. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <string.h>

#include "host.h"

static const char name[] = "\"email\":\"";

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)state;
  const crb_view json = result->json;
  const uint8_t *found = json.len ? memmem(json.ptr, json.len, name, sizeof name - 1) : NULL;
  uint8_t *bytes;
  if (!found) return CRB_CONTINUE;
  const crb_buf copy = host->buf_alloc(self, json.len, &bytes);
  if (!copy) return CRB_E_NOMEM;
  memcpy(bytes, json.ptr, json.len);
  for (size_t i = (size_t)(found - json.ptr) + sizeof name - 1; i < json.len && bytes[i] != '"'; i++) {
    if (bytes[i] == '\\' && i + 1 < json.len) bytes[i++] = '*';
    bytes[i] = '*';
  }
  return host->emit(call, CRB_EMIT_RESULT, copy, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_RESULT on_result
#define NEEDS CRB_PART_JSON
#define MUTATES CRB_PART_JSON
#include "sound.h"
