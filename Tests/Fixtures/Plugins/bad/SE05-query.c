/* Puts "/v2" in front of the last slash of a URL, which may be one of its parameters. */
#include <carabiner.h>
#include <string.h>

#include "host.h"

static const char segment[] = "/v2";

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view url;
  size_t start = 0;
  if (host->field_get(call, CRB_PART_URL, &url) != CRB_OK) return CRB_CONTINUE;
  /* The path begins at the third slash. */
  for (int slashes = 0; start < url.len && (url.ptr[start] != '/' || ++slashes < 3);) start++;
  size_t last = url.len;
  while (last > start && url.ptr[last - 1] != '/') last--;
  if (last == start) return CRB_CONTINUE;
  last--;
  uint8_t *bytes;
  const size_t length = strlen(segment);
  const crb_buf longer = host->buf_alloc(self, url.len + length, &bytes);
  if (!longer) return CRB_E_NOMEM;
  memcpy(bytes, url.ptr, last);
  memcpy(bytes + last, segment, length);
  memcpy(bytes + last + length, url.ptr + last, url.len - last);
  return host->field_set(call, CRB_PART_URL, longer) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define HTTP_ON_REQUEST on_request
#define STAGES STAGE_HTTP
#define NEEDS CRB_PART_URL
#define MUTATES CRB_PART_URL
#include "sound.h"
