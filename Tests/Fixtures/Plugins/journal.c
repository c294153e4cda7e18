/* Writes a line to a file for every hook the host calls, so that a test sees the order in a chain without tracing.
 *
 * {"file": "...", "suspend": "yes"|"no"}. -DTHREADS=... chooses the thread class, -DREADS_RESULTS=0 has graphql.on_error instead of
 * graphql.on_result. A hook that overlaps with another hook of its
 * instance writes "overlap", and an instance that is called for a second request writes "shared". */
#include <carabiner.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef THREADS
#define THREADS CRB_THREADS_CONCURRENT
#endif
#ifndef READS_RESULTS
#define READS_RESULTS 1
#endif

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.journal\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  int file;
  int suspends;
  char name[32];
  atomic_int inside;
  _Atomic uint64_t request;
} instance;

static void write_line(const instance *i, const char *what) {
  char line[96];
  int n = snprintf(line, sizeof line, "%s %s\n", i->name, what);
  if (n > 0 && write(i->file, line, (size_t)n) != n) abort();
}

static void *resume(void *token) {
  usleep(500);
  host->resume((crb_token)(uintptr_t)token, CRB_CONTINUE);
  return NULL;
}

static crb_verdict note(instance *i, crb_call call, const char *hook) {
  if (atomic_fetch_add(&i->inside, 1) > 0) write_line(i, "overlap");
  uint64_t none = 0, request = host->request_id(call);
  if (!atomic_compare_exchange_strong(&i->request, &none, request) && none != request) write_line(i, "shared");
  write_line(i, hook);
  if (THREADS != CRB_THREADS_CONCURRENT) usleep(200);
  atomic_fetch_sub(&i->inside, 1);
  if (!i->suspends) return CRB_CONTINUE;
  crb_token token = host->suspend(call);
  pthread_t thread;
  if (!token || pthread_create(&thread, NULL, resume, (void *)(uintptr_t)token)) return CRB_FAIL;
  pthread_detach(thread);
  return CRB_PENDING;
}

static crb_verdict g_request(void *i, crb_call c, void **s) { *s = i; return note(i, c, "graphql.on_request"); }
static crb_verdict g_result(void *i, crb_call c, void *s, const crb_result *r) { (void)s, (void)r; return note(i, c, "graphql.on_result"); }
static crb_verdict g_end(void *i, crb_call c, void *s) { (void)s; return note(i, c, "graphql.on_end"); }
static crb_verdict g_error(void *i, crb_call c, void *s, const crb_error *e) { (void)s, (void)e; return note(i, c, "graphql.on_error"), CRB_FAIL; }
static void g_release(void *i, void *s) { (void)s; write_line(i, "graphql.release"); }
static crb_verdict h_request(void *i, crb_call c, void **s) { *s = i; return note(i, c, "http.on_request"); }
static crb_verdict h_head(void *i, crb_call c, void *s, const crb_head *h) { (void)s, (void)h; return note(i, c, "http.on_head"); }
static crb_verdict h_chunk(void *i, crb_call c, void *s, const crb_chunk *k) { (void)s, (void)k; return note(i, c, "http.on_chunk"); }
static crb_verdict h_end(void *i, crb_call c, void *s) { (void)s; return note(i, c, "http.on_end"); }
static crb_verdict c_read(void *i, crb_call c, void **s) { *s = i; return note(i, c, "cache.on_read"); }
static crb_verdict c_write(void *i, crb_call c, void *s, const crb_result *r) { (void)s, (void)r; return note(i, c, "cache.on_write"); }

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .on_request = g_request, .on_result = READS_RESULTS ? g_result : NULL, .on_error = READS_RESULTS ? NULL : g_error, .on_end = g_end, .release = g_release};
static const crb_http_stage http = {
    .size = sizeof http, .on_request = h_request, .on_head = h_head, .on_chunk = h_chunk, .on_end = h_end};
static const crb_cache_stage cache = {.size = sizeof cache, .on_read = c_read, .on_write = c_write};

/* The host passes compact JSON that it has written itself: {"file":"...","suspend":"..."}. */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h;
  char path[1024] = "", suspend[8] = "", text[1200] = "";
  if (info->config_json.len >= sizeof text) return CRB_E_INVAL;
  memcpy(text, info->config_json.ptr, info->config_json.len);
  if (sscanf(text, "{\"file\":\"%1000[^\"]\",\"suspend\":\"%7[^\"]\"}", path, suspend) != 2) return CRB_E_INVAL;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  i->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (i->file < 0) {
    const char message[] = "the journal cannot be opened";
    why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
    free(i);
    return CRB_E_INVAL;
  }
  i->suspends = strcmp(suspend, "yes") == 0;
  size_t n = info->entry_name.len < sizeof i->name - 1 ? info->entry_name.len : sizeof i->name - 1;
  memcpy(i->name, info->entry_name.ptr, n);
  write_line(i, "create");
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) {
  instance *i = inst;
  write_line(i, "destroy");
  close(i->file);
  free(i);
}

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = THREADS,
    .id = "org.carabiner.test.journal",
    .version = "1.0.0",
    .config_schema = "{\"type\":\"object\",\"required\":[\"file\",\"suspend\"],\"additionalProperties\":false,"
                     "\"properties\":{\"file\":{\"type\":\"string\"},\"suspend\":{\"enum\":[\"yes\",\"no\"]}}}",
    .graphql = &graphql,
    .http = &http,
    .cache = &cache,
    .create = create,
    .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
