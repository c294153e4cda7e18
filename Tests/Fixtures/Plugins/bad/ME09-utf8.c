/* Leak on failure: the host's buffer is not released if the text turns out not to be UTF-8. */
/* ONLY: ME09 */
/* Reads responses of type text/csv as {"data":{"rows":[[...]]}}. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.envelope-parser\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

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

typedef struct body {
  size_t length;
  size_t capacity;
  char *bytes;
} body;

/* False without memory, or beyond 16 MiB. */
static int append(body *b, const void *bytes, size_t n) {
  if (n > (16u << 20) - b->length) return 0;
  if (b->length + n > b->capacity) {
    const size_t capacity = b->length + n > 2 * b->capacity ? b->length + n : 2 * b->capacity;
    char *grown = realloc(b->bytes, capacity);
    if (!grown) return 0;
    b->bytes = grown;
    b->capacity = capacity;
  }
  if (n > 0) memcpy(b->bytes + b->length, bytes, n);
  b->length += n;
  return 1;
}

static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst;
  static const char mine[] = "text/csv";
  crb_view type;
  if (head->status / 100 != 2 || host->header_get(call, text("Content-Type"), &type) != CRB_OK) return CRB_DROP;
  if (type.len < sizeof mine - 1 || strncasecmp((const char *)type.ptr, mine, sizeof mine - 1) != 0) return CRB_DROP;
  if (type.len > sizeof mine - 1 && !strchr("; \t", type.ptr[sizeof mine - 1])) return CRB_DROP;
  if (!*state) *state = calloc(1, sizeof(body));
  if (!*state) return fail(call, "no memory for a response");
  ((body *)*state)->length = 0;
  return CRB_CONTINUE;
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  return append(state, chunk->bytes.ptr, chunk->bytes.len) ? CRB_CONTINUE : fail(call, "the table is too long");
}

/* The length of the UTF-8 sequence at p, 0 if there is none. */
static size_t sequence(const uint8_t *p, size_t left) {
  const size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
  return n;
}

static size_t put(uint8_t *out, size_t at, const void *bytes, size_t n) {
  if (out) memcpy(out + at, bytes, n);
  return at + n;
}

/* Writes the table, or only counts if `out` is NULL. 0: not UTF-8. Counting does not look at the encoding. */
static size_t write(const body *b, uint8_t *out) {
  static const char digits[] = "0123456789abcdef";
  size_t n = put(out, 0, "{\"data\":{\"rows\":[", 17);
  for (size_t i = 0, row = 0; i < b->length; row++) {
    n = put(out, n, row ? ",[\"" : "[\"", row ? 3 : 2);
    while (i < b->length && b->bytes[i] != '\n') {
      const uint8_t c = (uint8_t)b->bytes[i];
      const size_t k = out ? sequence((const uint8_t *)b->bytes + i, b->length - i) : 1;
      if (k == 0) return 0;
      if (c == ',') n = put(out, n, "\",\"", 3);
      else if (c == '\r' && i + 1 < b->length && b->bytes[i + 1] == '\n') n = put(out, n, "", 0);
      else if (c < 0x20 || c == '"' || c == '\\') {
        const char e[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        n = put(out, n, e, 6);
      } else n = put(out, n, b->bytes + i, k);
      i += k;
    }
    i++;
    n = put(out, n, "\"]", 2);
  }
  return put(out, n, "]}}", 3);
}

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  const instance *me = inst;
  uint8_t *out;
  const crb_buf json = host->buf_alloc(me->self, write(state, NULL), &out);
  if (!json) return fail(call, "no memory for a result");
  if (write(state, out) == 0) return fail(call, "the table is not UTF-8");
  if (host->emit(call, CRB_EMIT_RESULT, json, 0) != CRB_OK) return fail(call, "the host does not take the table");
  return CRB_CONTINUE;
}

static void release(void *inst, void *state) {
  (void)inst;
  free(((body *)state)->bytes);
  free(state);
}

static const crb_parser_stage parser = {.size = sizeof parser, .needs = CRB_PART_HEADERS | CRB_PART_CHUNK, .on_head = on_head,
                                        .on_chunk = on_chunk, .on_end = on_end, .release = release, .accept = "text/csv;q=0.5"};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.envelope-parser",
    .version = "1.0.0",
    .parser = &parser,
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
