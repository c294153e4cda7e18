/* Measures how deep the selections of a document are by calling itself for each level. */
/* STATUS: CRASH */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

/* The end of the text or comment at `p`. */
static const uint8_t *skip(const uint8_t *p, const uint8_t *end) {
  const size_t quotes = end - p >= 3 && memcmp(p, "\"\"\"", 3) == 0 ? 3 : 1;
  if (*p == '#') {
    while (p < end && *p != '\n' && *p != '\r') p++;
    return p;
  }
  for (p += quotes; p < end; p++) {
    if (*p == '\\') p++;
    else if ((size_t)(end - p) >= quotes && memcmp(p, "\"\"\"", quotes) == 0) return p + quotes;
  }
  return end;
}
/* The end of the selections at `p`, which are `depth` levels deep. */
static const uint8_t *measure(const uint8_t *p, const uint8_t *end, size_t depth, size_t *deepest) {
  if (depth > *deepest) *deepest = depth;
  while (p < end && *p != '}') {
    if (*p == '{') p = measure(p + 1, end, depth + 1, deepest);
    else p = *p == '"' || *p == '#' ? skip(p, end) : p + 1;
  }
  return p < end ? p + 1 : end;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view document;
  char line[64];
  size_t deepest = 0;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK) return CRB_CONTINUE;
  const uint8_t *p = document.ptr, *end = p + document.len;
  while (p < end) p = measure(p, end, 0, &deepest);
  snprintf(line, sizeof line, "the document is %zu levels deep", deepest);
  host->log(self, CRB_LOG_DEBUG, call, text(line));
  return CRB_CONTINUE;
}
#define NEEDS CRB_PART_DOCUMENT
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
