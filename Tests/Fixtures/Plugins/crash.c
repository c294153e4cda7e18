/* A plugin that crashes the process. Its configuration selects the hook and the signal. {"where": "on_request", "how": "segv"} */
#include <carabiner.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.crash\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char config[256];
} instance;

static int says(const instance *i, const char *word) { return strstr(i->config, word) != NULL; }

static int overflow(volatile int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return overflow(depth + 1) + room[0];
}

static void *die(void *argument) {
  const instance *i = argument;
  if (says(i, "\"abort\"")) abort();
  if (says(i, "\"exit\"")) exit(0);
  for (volatile int forever = says(i, "\"wait\""); forever;) pause();
  if (says(i, "\"ill\"")) __builtin_trap();
  for (volatile int forever = says(i, "\"loop\""); forever;) {}
  if (says(i, "\"fpe\"")) raise(SIGFPE);
  if (says(i, "\"bus\"")) raise(SIGBUS);
  if (says(i, "\"overflow\"")) overflow(0);
  *(volatile int *)16 = 1;
  return NULL;
}

static void late(void *argument) { die(argument); }

static void at(const instance *i, const char *place) {
  if (says(i, place)) die((void *)i);
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  *state = inst;
  (void)call;
  at(inst, "\"on_request\"");
  if (says(inst, "\"thread\"")) {
    pthread_t thread;
    pthread_create(&thread, NULL, die, inst);
    pthread_join(thread, NULL);
  }
  if (says(inst, "\"timer\"")) {
    const crb_self self = ((instance *)inst)->self;
    const crb_timer_service *timer = host->query(self, "crb.timer/1");
    timer->arm(self, 1000000, late, inst);
  }
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)call, (void)state, (void)result;
  at(inst, "\"on_result\"");
  return CRB_CONTINUE;
}

static void release(void *inst, void *state) {
  (void)state;
  at(inst, "\"release\"");
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .on_request = on_request, .on_result = on_result, .release = release};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *i = calloc(1, sizeof *i);
  i->self = info->self;
  memcpy(i->config, info->config_json.ptr, info->config_json.len < sizeof i->config ? info->config_json.len : sizeof i->config - 1);
  at(i, "\"create\"");
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.crash",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\"}",
                                            .graphql = &graphql,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
#ifdef CRASH_IN_ENTRY
  *(volatile int *)16 = 1;
#endif
  host = h;
  return &plugin;
}
