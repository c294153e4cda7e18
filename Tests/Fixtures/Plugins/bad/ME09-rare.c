/* Copies an Accept-Language that has weights, to cut it at the first one, and does not free the copy. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view languages;
  if (host->header_get(call, text("Accept-Language"), &languages) != CRB_OK || !languages.len) return CRB_CONTINUE;
  if (memchr(languages.ptr, ';', languages.len)) {
    char *copy = strndup((const char *)languages.ptr, languages.len);
    if (!copy) return CRB_E_NOMEM;
    copy[strcspn(copy, ";")] = 0;
    languages = text(copy);
  }
  return host->header_set(call, text("X-Languages"), languages, CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
