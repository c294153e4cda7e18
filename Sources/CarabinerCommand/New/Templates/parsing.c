/* my-plugin reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
 *
 * Use it as the start of your own parser: on_head selects the responses, on_chunk collects the body, on_end converts it
 * into a GraphQL response. Chunks may end anywhere in the body. All of this file runs on the host's
 * threads, hooks of different calls at the same time (CRB_THREADS_CONCURRENT below). Mutable data belongs to one call. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The plugin's identity, which the host reads without running code. It must match the table at the end. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

/* The largest body that is kept in memory. */
enum { MAXIMUM_BYTES = 16 << 20 };

static const crb_host *host;

/* One per manifest entry: allocated in create(), freed in destroy(). */
typedef struct instance {
  crb_self self;
} instance;

/* One per call: allocated in its first hook, freed in release(). */
typedef struct body {
  size_t length;
  size_t capacity;
  uint8_t *bytes;
} body;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* The host copies the error. The message says what happened and what to do next. */
static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .flags = CRB_ERROR_PARSE, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

/* [owner] CONTINUE takes the response, DROP leaves it to the next parser. */
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)inst;
  static const char mine[] = "text/plain";
  crb_view type; /* borrowed: valid until this hook completes */
  if (head->status / 100 != 2 || host->header_get(call, text("Content-Type"), &type) != CRB_OK) return CRB_DROP;
  if (type.len < sizeof mine - 1 || strncasecmp((const char *)type.ptr, mine, sizeof mine - 1) != 0) return CRB_DROP;
  if (type.len > sizeof mine - 1 && !strchr("; \t", type.ptr[sizeof mine - 1])) return CRB_DROP;
  if (!*state) *state = calloc(1, sizeof(body));
  if (!*state) return fail(call, "there is no memory left for a response");
  ((body *)*state)->length = 0; /* a retry has a new response, so the old body is discarded */
  return CRB_CONTINUE;
}

/* [owner] Called for each chunk of the body. */
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst;
  body *b = state;
  if (chunk->bytes.len > MAXIMUM_BYTES - b->length) return fail(call, "the text is longer than 16 MiB");
  const size_t needed = b->length + chunk->bytes.len;
  if (needed > b->capacity) {
    const size_t capacity = needed > 2 * b->capacity ? needed : 2 * b->capacity;
    uint8_t *grown = realloc(b->bytes, capacity);
    if (!grown) return fail(call, "there is no memory left for a response");
    b->bytes = grown;
    b->capacity = capacity;
  }
  if (chunk->bytes.len > 0) memcpy(b->bytes + b->length, chunk->bytes.ptr, chunk->bytes.len);
  b->length = needed;
  return CRB_CONTINUE;
}

/* Escapes one byte for a JSON string. Returns the number of bytes, and writes them if `out` is not NULL. */
static size_t escape(uint8_t c, uint8_t *out) {
  static const char digits[] = "0123456789abcdef";
  if (c >= 0x20 && c != '"' && c != '\\') {
    if (out) *out = c;
    return 1;
  }
  if (out) memcpy(out, (uint8_t[]){'\\', 'u', '0', '0', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]}, 6);
  return 6;
}

/* [owner] The body is complete. */
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  static const char before[] = "{\"data\":{\"text\":\"", after[] = "\"}}";
  const instance *me = inst;
  const body *b = state;
  size_t size = sizeof before - 1 + sizeof after - 1;
  for (size_t i = 0; i < b->length; i++) size += escape(b->bytes[i], NULL);
  uint8_t *out;
  const crb_buf json = host->buf_alloc(me->self, size, &out);
  if (!json) return fail(call, "the host has no memory left for a result");
  memcpy(out, before, sizeof before - 1);
  out += sizeof before - 1;
  for (size_t i = 0; i < b->length; i++) out += escape(b->bytes[i], out);
  memcpy(out, after, sizeof after - 1);
  /* emit() takes over the reference to the buffer, even if it fails. It also validates the bytes. */
  if (host->emit(call, CRB_EMIT_RESULT, json, 0) != CRB_OK) return fail(call, "the text is not UTF-8");
  if (host->log_enabled(me->self, CRB_LOG_INFO)) host->log(me->self, CRB_LOG_INFO, call, text("read a text"));
  return CRB_CONTINUE;
}

/* [owner] The last hook of a call, whatever its outcome. */
static void release(void *inst, void *state) {
  (void)inst;
  free(((body *)state)->bytes);
  free(state);
}

/* Hooks can read only the parts in `needs`. */
static const crb_parser_stage parser = {.size = sizeof parser,
                                        .needs = CRB_PART_HEADERS | CRB_PART_CHUNK,
                                        .on_head = on_head,
                                        .on_chunk = on_chunk,
                                        .on_end = on_end,
                                        .release = release};

/* [load] */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = malloc(sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

/* [load] */
static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.example.my-plugin",
                                            .version = "1.0.0",
                                            .parser = &parser,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

/* The only symbol that a plugin exports. */
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
