/* Logs every hook that the host calls, with the entry's name. The log shows the order of a chain.
 *
 * It has all four stages. As a cache it stores nothing, and as a parser it passes every response to the next one. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.recorder\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { MAXIMUM_NAME = 64 };

static const crb_host *host;

typedef struct recorder {
  crb_self self;
  char name[MAXIMUM_NAME + 1];
} recorder;

static crb_verdict record(void *inst, crb_call call, const char *hook) {
  const recorder *r = inst;
  char line[MAXIMUM_NAME + 64];
  int n = snprintf(line, sizeof line, "%s %s", r->name, hook);
  if (n > 0) host->log(r->self, CRB_LOG_INFO, call, (crb_view){(const uint8_t *)line, (size_t)n});
  return CRB_CONTINUE;
}

static crb_verdict graphql_request(void *i, crb_call c, void **s) { *s = i; return record(i, c, "graphql.on_request"); }
static crb_verdict graphql_result(void *i, crb_call c, void *s, const crb_result *r) { (void)s, (void)r; return record(i, c, "graphql.on_result"); }
static crb_verdict graphql_error(void *i, crb_call c, void *s, const crb_error *e) { (void)s, (void)e; return record(i, c, "graphql.on_error"); }
static crb_verdict graphql_end(void *i, crb_call c, void *s) { (void)s; return record(i, c, "graphql.on_end"); }
static void graphql_cancel(void *i, crb_call c, void *s) { (void)s; record(i, c, "graphql.on_cancel"); }
static void graphql_release(void *i, void *s) { (void)s; record(i, 0, "graphql.release"); }

static crb_verdict http_request(void *i, crb_call c, void **s) { *s = i; return record(i, c, "http.on_request"); }
static crb_verdict http_head(void *i, crb_call c, void *s, const crb_head *h) { (void)s, (void)h; return record(i, c, "http.on_head"); }
static crb_verdict http_chunk(void *i, crb_call c, void *s, const crb_chunk *k) { (void)s, (void)k; return record(i, c, "http.on_chunk"); }
static crb_verdict http_error(void *i, crb_call c, void *s, const crb_error *e) { (void)s, (void)e; return record(i, c, "http.on_error"); }
static crb_verdict http_end(void *i, crb_call c, void *s) { (void)s; return record(i, c, "http.on_end"); }
static void http_release(void *i, void *s) { (void)s; record(i, 0, "http.release"); }

static crb_verdict cache_read(void *i, crb_call c, void **s) { *s = i; return record(i, c, "cache.on_read"); }
static crb_verdict cache_write(void *i, crb_call c, void *s, const crb_result *r) { (void)s, (void)r; return record(i, c, "cache.on_write"); }
static void cache_release(void *i, void *s) { (void)s; record(i, 0, "cache.release"); }

static crb_verdict parser_head(void *i, crb_call c, void **s, const crb_head *h) {
  (void)s, (void)h;
  record(i, c, "parser.on_head");
  return CRB_DROP;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .on_request = graphql_request, .on_result = graphql_result,
                                          .on_error = graphql_error, .on_end = graphql_end, .on_cancel = graphql_cancel,
                                          .release = graphql_release};
static const crb_http_stage http = {.size = sizeof http, .on_request = http_request, .on_head = http_head,
                                    .on_chunk = http_chunk, .on_error = http_error, .on_end = http_end,
                                    .release = http_release};
static const crb_cache_stage cache = {.size = sizeof cache, .on_read = cache_read, .on_write = cache_write,
                                      .release = cache_release};
static const crb_parser_stage parser = {.size = sizeof parser, .on_head = parser_head};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  recorder *r = calloc(1, sizeof *r);
  if (!r) return CRB_E_NOMEM;
  r->self = info->self;
  size_t n = info->entry_name.len < MAXIMUM_NAME ? info->entry_name.len : MAXIMUM_NAME;
  if (n) memcpy(r->name, info->entry_name.ptr, n);
  *inst = r;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.recorder",
                                            .version = "1.0.0",
                                            .name = "Recorder",
                                            .graphql = &graphql,
                                            .http = &http,
                                            .cache = &cache,
                                            .parser = &parser,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
