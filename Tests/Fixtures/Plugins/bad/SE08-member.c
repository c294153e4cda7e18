/* Logs the variables of an operation that fails, and hides a password only if it is no member of another variable. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static size_t end_of_text(crb_view json, size_t i) {
  for (i++; i < json.len && json.ptr[i] != '"'; i++) i += json.ptr[i] == '\\';
  return i < json.len ? i + 1 : json.len;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state, (void)error;
  crb_view json;
  if (host->field_get(call, CRB_PART_VARIABLES, &json) != CRB_OK || !json.len) return CRB_CONTINUE;
  uint8_t *line = host->scratch(call, json.len, 1);
  if (!line) return CRB_CONTINUE;
  int depth = 0, is_hidden = 0;
  for (size_t i = 0, end; i < json.len; i = end) {
    const uint8_t byte = json.ptr[i];
    end = byte == '"' ? end_of_text(json, i) : i + 1;
    if (byte == '}' || byte == ']') depth--;
    if (depth == 0 || (depth == 1 && byte == ',')) is_hidden = 0;
    if (is_hidden && byte != ':') memset(line + i, '*', end - i);
    else if (byte < ' ') line[i] = ' ';
    else memcpy(line + i, json.ptr + i, end - i);
    if (byte == '{' || byte == '[') depth++;
    if (depth == 1 && end - i == 10 && memcmp(json.ptr + i, "\"password\"", 10) == 0) is_hidden = 1;
  }
  host->log(self, CRB_LOG_WARN, call, (crb_view){line, json.len});
  return CRB_CONTINUE;
}
#define ON_ERROR on_error
#define NEEDS CRB_PART_VARIABLES
#include "sound.h"
