/* A plugin whose hooks take time or resources, as its configuration says.  {"what": "sleep", "ms": 5}  It fails a request that it has seen
 * before. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.steady\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { REQUESTS = 1 << 16, MOST_THREADS = 128 };

static const crb_host *host;
static _Atomic uint64_t seen[REQUESTS];

typedef struct instance {
  crb_self self;
  unsigned ms;
  char what[16];
} instance;

static crb_verdict fail(crb_call call, const char *text) {
  crb_error error = {.size = sizeof error, .message = {(const uint8_t *)text, strlen(text)}};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static void fired(void *token) { host->resume((crb_token)(uintptr_t)token, CRB_CONTINUE); }

static crb_verdict pend(const instance *i, crb_call call) {
  const crb_timer_service *timers = host->query(i->self, "crb.timer/1");
  crb_token token = host->suspend(call);
  timers->arm(i->self, UINT64_C(1000000) * i->ms, fired, (void *)(uintptr_t)token);
  return CRB_PENDING;
}

static void *rest(void *nothing) {
  for (;;) pause();
  return nothing;
}

static crb_verdict make_threads(crb_call call) {
  static _Atomic int count;
  for (pthread_t thread; count <= MOST_THREADS && pthread_create(&thread, NULL, rest, NULL) == 0;) count++;
  return count <= MOST_THREADS ? CRB_CONTINUE : fail(call, "threads without a limit");
}

static crb_verdict leak(void) {
  enum { BLOCK = 1 << 20 };
  for (char *block; (block = malloc(BLOCK));) memset(block, 1, BLOCK);
  abort();
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const instance *i = inst;
  uint64_t id = host->request_id(call);
  *state = inst;
  if (atomic_exchange(&seen[id % REQUESTS], id) == id) return fail(call, "the same request twice");
  if (!strcmp(i->what, "pend")) return pend(i, call);
  if (!strcmp(i->what, "threads")) return make_threads(call);
  if (!strcmp(i->what, "leak")) return leak();
  if (!strcmp(i->what, "fork")) {
    pid_t process = fork();
    if (process == 0) _exit(0);
    return process < 0 ? CRB_CONTINUE : fail(call, "a process of its own");
  }
  usleep(1000 * i->ms);
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .on_request = on_request, .on_result = on_result};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  char config[256] = {0};
  instance *i = calloc(1, sizeof *i);
  i->self = info->self;
  memcpy(config, info->config_json.ptr, info->config_json.len < sizeof config ? info->config_json.len : sizeof config - 1);
  const char *what = strstr(config, "\"what\":\""), *ms = strstr(config, "\"ms\":");
  if (what) sscanf(what + 8, "%15[a-z]", i->what);
  if (ms) i->ms = (unsigned)atoi(ms + 5);
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.steady",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\"}",
                                            .graphql = &graphql,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
