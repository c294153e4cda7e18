/* A parser of parts that does not see a delimiter in two chunks. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host.h"

/* The result is how many delimiters there were. */
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst, (void)call;
  for (size_t i = 0; i < head->header_count; i++) {
    crb_view value = head->headers[i].value;
    if (value.len >= 15 && strncasecmp((const char *)value.ptr, "multipart/mixed", 15) == 0) {
      if (!*state) *state = malloc(sizeof(int));
      if (!*state) return CRB_E_NOMEM;
      *(int *)*state = 0;
      return CRB_CONTINUE;
    }
  }
  return CRB_DROP;
}
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  const uint8_t *p = chunk->bytes.ptr, *end = p + chunk->bytes.len;
  while (p && (p = memmem(p, (size_t)(end - p), "\r\n---", 5))) {
    ++*(int *)state;
    p += 5;
  }
  return CRB_CONTINUE;
}
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst;
  uint8_t *bytes;
  char json[64];
  int n = snprintf(json, sizeof json, "{\"data\":{\"parts\":%d}}", *(int *)state);
  crb_buf b = host->buf_alloc(self, (size_t)n, &bytes);
  if (!b) return CRB_E_NOMEM;
  memcpy(bytes, json, (size_t)n);
  return host->emit(call, CRB_EMIT_RESULT, b, 0) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define PARSER_ON_HEAD on_head
#define PARSER_ON_CHUNK on_chunk
#define PARSER_ON_END on_end
#define STAGES STAGE_PARSER
#define NEEDS (CRB_PART_HEADERS | CRB_PART_CHUNK)
#include "sound.h"
