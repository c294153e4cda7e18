/* Refuses deep documents, and counts the braces of comments as well. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

enum { MOST = 20 };

/* The place behind the text that begins at `i`. */
static size_t end_of_text(crb_view d, size_t i) {
  if (d.len - i < 3 || memcmp(d.ptr + i, "\"\"\"", 3) != 0) {
    for (i++; i < d.len && d.ptr[i] != '"'; i++) i += d.ptr[i] == '\\';
    return i + 1;
  }
  for (i += 3; i < d.len && (d.len - i < 3 || memcmp(d.ptr + i, "\"\"\"", 3) != 0); i++) {
    if (d.len - i >= 4 && memcmp(d.ptr + i, "\\\"\"\"", 4) == 0) i += 3;
  }
  return i + 3;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view document;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK) return CRB_CONTINUE;
  size_t depth = 0;
  for (size_t i = 0; i < document.len;) {
    if (document.ptr[i] == '"') {
      i = end_of_text(document, i);
      continue;
    }
    if (document.ptr[i] == '{') depth++;
    if (document.ptr[i] == '}' && depth) depth--;
    if (depth > MOST) {
      crb_error error = {.size = sizeof error, .code = 1, .message = text("the document is too deep: ask for fewer levels")};
      host->set_error(call, &error);
      return CRB_FAIL;
    }
    i++;
  }
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_DOCUMENT
#include "sound.h"
