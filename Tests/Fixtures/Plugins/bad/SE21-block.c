/* Refuses pages of more than 1000 items, and reads the lines of a block string as arguments. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* The place after the token at `i`: a comment, a text or one byte. */
static size_t after(crb_view d, size_t i) {
  if (d.ptr[i] == '#') {
    while (i < d.len && d.ptr[i] != '\n' && d.ptr[i] != '\r') i++;
    return i;
  }
  if (d.ptr[i++] != '"') return i;
  for (; i < d.len && d.ptr[i] != '"' && d.ptr[i] != '\n'; i++) i += d.ptr[i] == '\\';
  return i < d.len ? i + 1 : d.len;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view d;
  if (host->field_get(call, CRB_PART_DOCUMENT, &d) != CRB_OK) return CRB_CONTINUE;
  for (size_t i = 0; i < d.len; i = after(d, i)) {
    if (d.len - i < 6 || memcmp(d.ptr + i, "first:", 6) != 0) continue;
    size_t digits = i + 6, number = 0;
    while (digits < d.len && d.ptr[digits] == ' ') digits++;
    for (; digits < d.len && d.ptr[digits] >= '0' && d.ptr[digits] <= '9' && number <= 1000; digits++)
      number = number * 10 + (d.ptr[digits] - '0');
    if (number <= 1000) continue;
    const crb_error error = {.size = sizeof error, .http_status = 400, .message = text("ask for at most 1000 items")};
    return host->set_error(call, &error) == CRB_OK ? CRB_FAIL : CRB_E_INVAL;
  }
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_DOCUMENT
#include "sound.h"
