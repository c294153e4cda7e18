/* Adds the tenant to the query of the URL, and writes each byte beyond ASCII as %FF, because it takes it for a negative number. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { MOST = 128 };

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view tenant, url;
  if (host->header_get(call, text("X-Tenant"), &tenant) != CRB_OK || tenant.len > MOST) return CRB_CONTINUE;
  if (host->field_get(call, CRB_PART_URL, &url) != CRB_OK || memchr(url.ptr, '#', url.len)) return CRB_CONTINUE;
  char value[3 * MOST + 1] = "";
  size_t n = 0;
  for (size_t i = 0; i < tenant.len; i++) {
    const int byte = (signed char)tenant.ptr[i];
    const int is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
    n += (size_t)sprintf(value + n, is_plain ? "%c" : "%%%02X", byte < 0 ? 255 : byte);
  }
  const char *name = memchr(url.ptr, '?', url.len) ? "&tenant=" : "?tenant=";
  uint8_t *bytes;
  const crb_buf buffer = host->buf_alloc(self, url.len + strlen(name) + strlen(value), &bytes);
  if (!buffer) return CRB_E_NOMEM;
  if (url.len) memcpy(bytes, url.ptr, url.len);
  memcpy(bytes + url.len, name, strlen(name));
  memcpy(bytes + url.len + strlen(name), value, strlen(value));
  return host->field_set(call, CRB_PART_URL, buffer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS (CRB_PART_HEADERS | CRB_PART_URL)
#define MUTATES CRB_PART_URL
#include "sound.h"
