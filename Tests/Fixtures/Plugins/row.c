/* A GraphQL stage of a row. {"request": WORD, "result": WORD}, both in this order:
 *   pass     CONTINUE
 *   add      adds 1 to the baggage value org.carabiner.row.count of the call, and CONTINUE
 *   crash    ends the process
 *   wait     PENDING, resumed by a thread with CONTINUE
 *   respond  RESPOND with the name "responded"
 *   twice    CONTINUE with the result twice in place of the result
 *   show     CONTINUE with the name "N, M": the baggage value, and how many results this instance has seen
 *   slow     sleeps for 30 ms, and CONTINUE */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.row\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  char request[16], result[16];
  crb_self self;
  crb_key key;
  atomic_int seen;
} instance;

static crb_view text(const char *text) { return (crb_view){(const uint8_t *)text, strlen(text)}; }

static crb_verdict emit(instance *i, crb_call call, crb_view json) {
  uint8_t *to;
  crb_buf buffer = host->buf_alloc(i->self, json.len, &to);
  if (!buffer) return CRB_FAIL;
  memcpy(to, json.ptr, json.len);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static crb_verdict emit_name(instance *i, crb_call call, const char *name) {
  char json[128];
  snprintf(json, sizeof json, "{\"data\":{\"hero\":{\"name\":\"%s\"}}}", name);
  return emit(i, call, text(json));
}

static int64_t count(instance *i, crb_call call) {
  crb_value value = {0};
  return host->bag_get(call, i->key, &value) == CRB_OK ? value.n.i : 0;
}

static void *resume(void *token) {
  usleep(2000);
  host->resume((crb_token)(uintptr_t)token, CRB_CONTINUE);
  return NULL;
}

static crb_verdict act(instance *i, crb_call call, const char *word, const crb_result *result) {
  if (!strcmp(word, "add")) {
    crb_value value = {.type = CRB_VALUE_I64, .n.i = count(i, call) + 1};
    return host->bag_set(call, i->key, CRB_SCOPE_CALL, &value) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
  }
  if (!strcmp(word, "crash")) abort();
  if (!strcmp(word, "slow")) usleep(30000);
  if (!strcmp(word, "wait")) {
    crb_token token = host->suspend(call);
    pthread_t thread;
    if (!token || pthread_create(&thread, NULL, resume, (void *)(uintptr_t)token)) return CRB_FAIL;
    pthread_detach(thread);
    return CRB_PENDING;
  }
  if (!strcmp(word, "respond")) return emit_name(i, call, "responded") == CRB_CONTINUE ? CRB_RESPOND : CRB_FAIL;
  if (!strcmp(word, "twice")) {
    for (int time = 0; time < 2; time++) {
      if (emit(i, call, result->json) != CRB_CONTINUE) return CRB_FAIL;
    }
  }
  if (!strcmp(word, "show")) {
    char name[64];
    snprintf(name, sizeof name, "%lld, %d", (long long)count(i, call), atomic_load(&i->seen));
    return emit_name(i, call, name);
  }
  return CRB_CONTINUE;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  *state = inst;
  return act(inst, call, ((instance *)inst)->request, NULL);
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  instance *i = inst;
  atomic_fetch_add(&i->seen, 1);
  return act(i, call, i->result, result);
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .needs = CRB_PART_JSON, .mutates = CRB_PART_JSON, .on_request = on_request, .on_result = on_result};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  char config[256] = "";
  if (info->config_json.len < sizeof config) memcpy(config, info->config_json.ptr, info->config_json.len);
  /* The host passes compact JSON that it has written itself. */
  if (sscanf(config, "{\"request\":\"%15[a-z]\",\"result\":\"%15[a-z]\"}", i->request, i->result) != 2) {
    free(i);
    return CRB_E_INVAL;
  }
  i->self = info->self;
  i->key = host->key(info->self, text("org.carabiner.row.count"));
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.carabiner.test.row",
    .version = "1.0.0",
    .config_schema = "{\"type\":\"object\",\"required\":[\"request\",\"result\"],\"additionalProperties\":false,"
                     "\"properties\":{\"request\":{\"type\":\"string\"},\"result\":{\"type\":\"string\"}}}",
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
