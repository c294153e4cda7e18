/* Counts the fields of a document, and those of a fragment again at each place that spreads it. */
#include <carabiner.h>
#include <stdio.h>

#include "host.h"

enum { MOST_SPREADS = 18 };

static int is(crb_view token, crb_view other) { return token.len == other.len && memcmp(token.ptr, other.ptr, other.len) == 0; }
static int is_name(uint8_t c) { return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }
static const uint8_t *text_end(const uint8_t *p, const uint8_t *end) {
  const size_t quotes = end - p >= 3 && memcmp(p, "\"\"\"", 3) == 0 ? 3 : 1;
  for (p += quotes; p < end; p++) {
    if (*p == '\\') p++;
    else if ((size_t)(end - p) >= quotes && memcmp(p, "\"\"\"", quotes) == 0) return p + quotes;
  }
  return end;
}
/* Takes the next token from `rest`; it is empty at the end. */
static crb_view next(crb_view *rest) {
  const uint8_t *p = rest->ptr, *end = p + rest->len;
  for (int is_comment = 0; p < end && (is_comment || *p <= ' ' || *p == ',' || *p == '#'); p++) {
    is_comment = (is_comment || *p == '#') && *p != '\n' && *p != '\r';
  }
  const uint8_t *start = p;
  if (p < end) p = *p == '"' ? text_end(p, end) : end - p >= 3 && memcmp(p, "...", 3) == 0 ? p + 3 : p + 1;
  while (p < end && is_name(*start) && is_name(*p)) p++;
  *rest = (crb_view){p, (size_t)(end - p)};
  return (crb_view){start, (size_t)(p - start)};
}
/* What comes after the name of a fragment. */
static crb_view find(crb_view rest, crb_view name) {
  long braces = 0;
  for (crb_view token; (token = next(&rest)).len;) {
    crb_view after = rest;
    braces += (*token.ptr == '{') - (*token.ptr == '}');
    if (braces == 0 && is(token, text("fragment")) && is(next(&after), name)) return after;
  }
  return rest;
}
/* Takes a definition from `rest`, and counts its fields and those of the fragments that it spreads. */
static long count(crb_view document, crb_view *rest, int spreads) {
  long fields = 0, braces = 0, parentheses = 0;
  for (crb_view token; (token = next(rest)).len;) {
    const uint8_t c = *token.ptr;
    parentheses += (c == '(') - (c == ')');
    if (parentheses > 0) continue;
    braces += (c == '{') - (c == '}');
    if (c == '}' && braces <= 0) break;
    /* An alias is not a field. */
    if (braces > 0) fields += is_name(c) - (c == ':');
    if (c == '@') next(rest);
    crb_view after = *rest, name = next(&after);
    if (c != '.' || !name.len || !is_name(*name.ptr)) continue;
    *rest = after;
    if (is(name, text("on"))) next(rest);
    if (is(name, text("on")) || spreads == MOST_SPREADS) continue;
    crb_view fragment = find(document, name);
    fields += count(document, &fragment, spreads + 1);
  }
  return fields;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view document, rest, ahead;
  char line[64];
  long fields = 0;
  if (host->field_get(call, CRB_PART_DOCUMENT, &document) != CRB_OK) return CRB_CONTINUE;
  for (rest = ahead = document; ahead.len; ahead = rest) {
    const int is_fragment = is(next(&ahead), text("fragment"));
    const long found = count(document, &rest, is_fragment ? MOST_SPREADS : 0);
    fields += is_fragment ? 0 : found;
  }
  snprintf(line, sizeof line, "the document asks for %ld fields", fields);
  host->log(self, CRB_LOG_DEBUG, call, text(line));
  return CRB_CONTINUE;
}
#define NEEDS CRB_PART_DOCUMENT
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
