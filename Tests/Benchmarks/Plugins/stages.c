/* Stages for the benchmarks in addition to Plugins/noop: one that receives every chunk, one that is resumed from its own thread, one
 * that sets a header of the request, and one that reads the result. */
#include <carabiner.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.bench.pending\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

/* A mailbox of one token, and the thread that reads it. */
typedef struct resumer {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  crb_token token;
  int stop;
  pthread_t thread;
} resumer;

static void *resume_all(void *argument) {
  resumer *r = argument;
  pthread_mutex_lock(&r->lock);
  for (;;) {
    while (!r->token && !r->stop) pthread_cond_wait(&r->filled, &r->lock);
    if (r->stop) break;
    crb_token token = r->token;
    r->token = 0;
    pthread_mutex_unlock(&r->lock);
    host->resume(token, CRB_CONTINUE);
    pthread_mutex_lock(&r->lock);
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

static crb_verdict suspend(void *inst, crb_call call, void **state) {
  (void)state;
  resumer *r = inst;
  crb_token token = host->suspend(call);
  if (!token) return CRB_FAIL;
  pthread_mutex_lock(&r->lock);
  r->token = token;
  pthread_cond_signal(&r->filled);
  pthread_mutex_unlock(&r->lock);
  return CRB_PENDING;
}

static crb_status create_resumer(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  resumer *r = calloc(1, sizeof *r);
  if (!r) return CRB_E_NOMEM;
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->filled, NULL);
  if (pthread_create(&r->thread, NULL, resume_all, r) != 0) {
    free(r);
    return CRB_E_NOMEM;
  }
  *inst = r;
  return CRB_OK;
}

static void destroy_resumer(void *inst) {
  resumer *r = inst;
  pthread_mutex_lock(&r->lock);
  r->stop = 1;
  pthread_cond_signal(&r->filled);
  pthread_mutex_unlock(&r->lock);
  pthread_join(r->thread, NULL);
  free(r);
}

static crb_verdict pass(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}

static crb_verdict pass_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  (void)inst, (void)call, (void)state, (void)chunk;
  return CRB_CONTINUE;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = NULL;
  return CRB_OK;
}

static crb_verdict set_header(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  const crb_view name = {.ptr = (const uint8_t *)"x-bench", .len = 7}, value = {.ptr = (const uint8_t *)"one", .len = 3};
  return host->header_set(call, name, value, CRB_HEADER_APPEND) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static crb_verdict read_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  uint64_t sum = 0;
  /* One byte of each line of the processor's cache. */
  for (size_t place = 0; place < result->json.len; place += 64) sum += result->json.ptr[place];
  return sum ? CRB_CONTINUE : CRB_FAIL;
}

static const crb_graphql_stage setting = {.size = sizeof setting, .mutates = CRB_PART_HEADERS, .on_request = set_header};
static const crb_graphql_stage reading = {
    .size = sizeof reading, .needs = CRB_PART_JSON, .on_request = pass, .on_result = read_result};
static const crb_graphql_stage suspending = {.size = sizeof suspending, .on_request = suspend};
static const crb_http_stage chunks = {.size = sizeof chunks, .on_request = pass, .on_chunk = pass_chunk};

static const crb_interceptor pending = {.size = sizeof pending,
                                        .thread_class = CRB_THREADS_CONCURRENT,
                                        .id = "org.carabiner.bench.pending",
                                        .version = "1.0.0",
                                        .graphql = &suspending,
                                        .create = create_resumer,
                                        .destroy = destroy_resumer};
static const crb_interceptor chunk = {.size = sizeof chunk,
                                      .thread_class = CRB_THREADS_CONCURRENT,
                                      .id = "org.carabiner.bench.chunk",
                                      .version = "1.0.0",
                                      .http = &chunks,
                                      .create = create};
static const crb_interceptor set = {.size = sizeof set,
                                    .thread_class = CRB_THREADS_CONCURRENT,
                                    .id = "org.carabiner.bench.set",
                                    .version = "1.0.0",
                                    .graphql = &setting,
                                    .create = create};
static const crb_interceptor reader = {.size = sizeof reader,
                                       .thread_class = CRB_THREADS_CONCURRENT,
                                       .id = "org.carabiner.bench.read",
                                       .version = "1.0.0",
                                       .graphql = &reading,
                                       .create = create};
static const crb_interceptor *const items[] = {&pending, &chunk, &set, &reader};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 4, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
