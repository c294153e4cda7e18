/* Adds a header with the name of its manifest entry to each request and each response. Peers/envoy_headers.c does
 * the same in Envoy.  With -DREADS, it also reads each chunk of the response. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.bench.headers\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct stage {
  char down[32], up[32];
  crb_view down_name, up_name;
} stage;

static crb_verdict add(crb_call call, crb_view name) {
  const crb_view value = {.ptr = (const uint8_t *)"one", .len = 3};
  return host->header_set(call, name, value, CRB_HEADER_APPEND) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  return add(call, ((const stage *)inst)->down_name);
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)state, (void)head;
  return add(call, ((const stage *)inst)->up_name);
}

#ifdef READS
static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call, (void)state;
  uint64_t sum = 0;
  /* One byte of each line of the processor's cache. */
  for (size_t place = 0; place < chunk->bytes.len; place += 64) sum += chunk->bytes.ptr[place];
  return sum || chunk->bytes.len == 0 ? CRB_CONTINUE : CRB_FAIL;
}
#endif

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  stage *s = calloc(1, sizeof *s);
  if (!s) return CRB_E_NOMEM;
  const int length = (int)info->entry_name.len;
  s->down_name.len = (size_t)snprintf(s->down, sizeof s->down, "x-%.*s-down", length, (const char *)info->entry_name.ptr);
  s->up_name.len = (size_t)snprintf(s->up, sizeof s->up, "x-%.*s-up", length, (const char *)info->entry_name.ptr);
  if (s->down_name.len >= sizeof s->down || s->up_name.len >= sizeof s->up) {
    free(s);
    return CRB_E_INVAL;
  }
  s->down_name.ptr = (const uint8_t *)s->down;
  s->up_name.ptr = (const uint8_t *)s->up;
  *inst = s;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_http_stage http = {
    .size = sizeof http,
    .mutates = CRB_PART_HEADERS,
#ifdef READS
    .needs = CRB_PART_CHUNK,
    .on_chunk = on_chunk,
#endif
    .on_request = on_request,
    .on_head = on_head};

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.bench.headers",
                                            .version = "1.0.0",
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
