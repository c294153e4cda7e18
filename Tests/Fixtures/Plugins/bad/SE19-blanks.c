/* Wrong Content-Length: the body gets shorter, the header of the response stays. */
/* ONLY: SE19 */
/* Removes blanks outside of strings from JSON responses, whatever their chunks are. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.slim-body\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static crb_view span(const void *p, size_t n) { return (crb_view){(const uint8_t *)p, n}; }

static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

typedef struct instance {
  crb_self self;
} instance;

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

typedef struct slim {
  int is_json, quoted, escaped;
} slim;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = calloc(1, sizeof(slim));
  if (*state) *(slim *)*state = (slim){0};
  return CRB_CONTINUE;
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)head;
  static const char mine[] = "application/json";
  slim *s = state;
  crb_view type, encoding;
  if (!s) return CRB_CONTINUE;
  s->is_json = host->header_get(call, text("Content-Type"), &type) == CRB_OK && type.len >= sizeof mine - 1 &&
               strncasecmp((const char *)type.ptr, mine, sizeof mine - 1) == 0 &&
               (type.len == sizeof mine - 1 || type.ptr[sizeof mine - 1] == ';' || type.ptr[sizeof mine - 1] == ' ') &&
               host->header_get(call, text("Content-Encoding"), &encoding) == CRB_E_NOTFOUND;
  return CRB_CONTINUE;
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  const instance *me = inst;
  slim *s = state;
  if (!s || !s->is_json || chunk->bytes.len == 0) return CRB_CONTINUE;
  char *work = malloc(chunk->bytes.len);
  if (!work) return fail(call, "no memory for a response");
  size_t n = 0;
  for (size_t i = 0; i < chunk->bytes.len; i++) {
    const char c = (char)chunk->bytes.ptr[i];
    const int blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (s->quoted || !blank) work[n++] = c;
    if (s->escaped) s->escaped = 0;
    else if (s->quoted && c == '\\') s->escaped = 1;
    else if (c == '"') s->quoted = !s->quoted;
  }
  if (n == chunk->bytes.len) {
    free(work);
    return CRB_CONTINUE;
  }
  if (n == 0) {
    free(work);
    return CRB_DROP;
  }
  uint8_t *out;
  const crb_buf made = host->buf_alloc(me->self, n, &out);
  if (made) memcpy(out, work, n);
  free(work);
  if (!made || host->emit(call, CRB_EMIT_CHUNK, made, 0) != CRB_OK) return fail(call, "the host does not take a chunk");
  return CRB_CONTINUE;
}

static void release(void *inst, void *state) {
  (void)inst;
  free(state);
}

static const crb_http_stage http = {.size = sizeof http, .needs = CRB_PART_HEADERS | CRB_PART_CHUNK, .mutates = CRB_PART_CHUNK,
                                    .on_request = on_request, .on_head = on_head, .on_chunk = on_chunk, .release = release};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.slim-body",
    .version = "1.0.0",
    .http = &http,
    .create = create,
    .destroy = destroy,
};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
