/* Logs the number of chunks and bytes of each response. The bytes are those of the wire: compressed, and with the envelopes of streams.
 *
 * cc -std=c11 -fPIC -shared -fvisibility=hidden -I ../../../../Sources/CCarabiner/include -o chunk-count.so chunk_count.c */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.chunk-count\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { MAXIMUM_LINE = 128 };

static const crb_host *host;

typedef struct counter {
  crb_self self;
} counter;

/* The state of a call between its hooks. */
typedef struct count {
  unsigned long chunks, bytes;
} count;

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = calloc(1, sizeof(count)); /* a retry has the state of the earlier attempt */
  if (*state) memset(*state, 0, sizeof(count));
  return CRB_CONTINUE;
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call;
  count *c = state;
  if (!c) return CRB_CONTINUE;
  c->chunks++;
  c->bytes += chunk->bytes.len;
  return CRB_CONTINUE;
}

/* The end of the call, also of one that was cancelled, or that needs no more of the response. */
static void release(void *inst, void *state) {
  const counter *me = inst;
  const count *c = state;
  if (host->log_enabled(me->self, CRB_LOG_INFO)) {
    char line[MAXIMUM_LINE];
    int length = snprintf(line, sizeof line, "%lu chunks with %lu bytes", c->chunks, c->bytes);
    if (length > 0) host->log(me->self, CRB_LOG_INFO, 0, (crb_view){(const uint8_t *)line, (size_t)length});
  }
  free(state);
}

static const crb_http_stage http = {.size = sizeof http,
                                    .needs = CRB_PART_CHUNK,
                                    .on_request = on_request,
                                    .on_chunk = on_chunk,
                                    .release = release};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  counter *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.example.chunk-count",
                                            .version = "1.0.0",
                                            .name = "Chunk count",
                                            .http = &http,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
