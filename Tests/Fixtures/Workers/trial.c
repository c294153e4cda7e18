/* A plugin for tests of workers.  Its configuration selects what it does: {"do": "..."}.  GATE is the path of a file: hooks and
 * create() that wait for it return when it exists, and until then "pend" has hooks pending.  THREADS is the thread class. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef THREADS
#define THREADS CRB_THREADS_CONCURRENT
#endif
#ifndef GATE
#define GATE "/nonexistent"
#endif
CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.trial\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;
static atomic_int inside;

typedef struct instance {
  crb_self self;
  crb_key key;
  char what[32], name[32];
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static int is(const instance *i, const char *what) { return strcmp(i->what, what) == 0; }

static crb_verdict fail(crb_call call, const char *format, int a, int b) {
  char line[64];
  snprintf(line, sizeof line, format, a, b);
  crb_error error = {.size = sizeof error, .message = text(line)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static crb_verdict respond(const instance *i, crb_call call, const char *name, size_t length) {
  char json[256];
  uint8_t *bytes = NULL;
  int count = snprintf(json, sizeof json, "{\"data\":{\"hero\":{\"name\":\"%.*s\"}}}", (int)length, name);
  crb_buf buffer = host->buf_alloc(i->self, (size_t)count, &bytes);
  if (!bytes) return CRB_FAIL;
  memcpy(bytes, json, (size_t)count);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
}

static void wait_for_gate(void) {
  while (access(GATE, F_OK) != 0) usleep(1000);
}

/* ---- A timer that fires, and one that is cancelled ---- */

typedef struct timers {
  crb_call call;
  crb_token token;
  crb_timer first, second;
  crb_status cancelled;
  atomic_int fired, fired_second;
} timers;

static void note_first(void *user) { atomic_fetch_add(&((timers *)user)->fired, 1); }
static void note_second(void *user) { atomic_fetch_add(&((timers *)user)->fired_second, 1); }
static void finish_timers(void *user) {
  timers *t = user;
  const crb_timer_service *service = host->query(host->self, "crb.timer/1");
  int is_stale = service->cancel(t->first) == CRB_E_STALE && service->cancel(t->second) == CRB_E_STALE;
  /* The second one fires only if it was not cancelled in time. */
  int is_right = atomic_load(&t->fired) == 1 && atomic_load(&t->fired_second) == (t->cancelled == CRB_OK ? 0 : 1) && is_stale;
  host->resume(t->token, is_right ? CRB_CONTINUE : CRB_FAIL);
}

static crb_verdict use_timers(const instance *i, crb_call call) {
  const crb_timer_service *service = host->query(i->self, "crb.timer/1");
  timers *t = calloc(1, sizeof *t);
  if (!service || !t || !(t->token = host->suspend(call))) return CRB_FAIL;
  t->first = service->arm(i->self, 1000000, note_first, t);
  t->second = service->arm(i->self, 100000000, note_second, t);
  t->cancelled = service->cancel(t->second);
  if (!service->arm(i->self, 200000000, finish_timers, t)) return CRB_FAIL;
  return CRB_PENDING;
}

/* ---- A request that is not granted ---- */

static void fetched(void *user, const crb_head *head, crb_view body, const crb_error *error) {
  (void)user, (void)head, (void)body, (void)error;
  abort();
}

static crb_verdict fetch(const instance *i, crb_call call) {
  const crb_fetch_service *service = host->query(i->self, "crb.fetch/1");
  crb_fetch_request request = {.size = sizeof request, .url = text("http://127.0.0.1:1/")};
  if (!service) return fail(call, "no service", 0, 0);
  return fail(call, "status %d", service->start(i->self, &request, fetched, NULL), 0);
}

/* ---- Hooks ---- */

static crb_verdict use_baggage(const instance *i, crb_call call) {
  crb_value value = {.type = CRB_VALUE_TEXT, .v = text(i->name)};
  if (is(i, "bag-set")) return host->bag_set(call, i->key, CRB_SCOPE_CALL, &value) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
  if (host->bag_get(call, i->key, &value) != CRB_OK) return fail(call, "no value", 0, 0);
  return respond(i, call, (const char *)value.v.ptr, value.v.len);
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const instance *i = inst;
  crb_view view = {0};
  char number[32];
  (void)state;
  if (is(i, "gate")) wait_for_gate();
  if (is(i, "pend") && access(GATE, F_OK) != 0) return host->suspend(call) ? CRB_PENDING : CRB_FAIL;
  if (is(i, "crash")) *(volatile int *)16 = 1;
  if (is(i, "timers")) return use_timers(i, call);
  if (is(i, "fetch")) return fetch(i, call);
  if (is(i, "bag-set") || is(i, "bag-get")) return use_baggage(i, call);
  if (is(i, "serial")) {
    if (atomic_fetch_add(&inside, 1) != 0) return fail(call, "hooks overlap", 0, 0);
    usleep(1000);
    atomic_fetch_sub(&inside, 1);
  }
  if (is(i, "thread")) {
    snprintf(number, sizeof number, "%ld", syscall(SYS_gettid));
    return respond(i, call, number, strlen(number));
  }
  if (is(i, "write-view")) {
    if (host->field_get(call, CRB_PART_DOCUMENT, &view) != CRB_OK) return CRB_FAIL;
    *(volatile uint8_t *)(uintptr_t)view.ptr = 'x';
  }
  if (is(i, "log")) {
    host->log(i->self, CRB_LOG_WARN, call, text("a line of a hook"));
    host->log(i->self, CRB_LOG_DEBUG, call, text("a line that is not enabled"));
    return respond(i, call, i->name, strlen(i->name));
  }
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  const instance *i = inst;
  uint8_t *bytes = NULL;
  (void)state;
  if (!is(i, "copy")) return CRB_CONTINUE;
  crb_buf buffer = host->buf_alloc(i->self, result->json.len, &bytes);
  if (!bytes) return CRB_FAIL;
  memcpy(bytes, result->json.ptr, result->json.len);
  return host->emit(call, CRB_EMIT_RESULT, buffer, result->flags) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static crb_status set_url(const instance *i, crb_call call, const char *url) {
  uint8_t *bytes = NULL;
  crb_buf buffer = host->buf_alloc(i->self, strlen(url), &bytes);
  if (bytes) memcpy(bytes, url, strlen(url));
  return host->field_set(call, CRB_PART_URL, buffer);
}

static crb_verdict on_http_request(void *inst, crb_call call, void **state) {
  const instance *i = inst;
  (void)state;
  int bad = set_url(i, call, "http://[/"), good = set_url(i, call, "http://127.0.0.1:2/other");
  return fail(call, "status %d and %d", bad, good);
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  i->self = info->self;
  i->key = h->key(i->self, text("trial.note"));
  snprintf(i->name, sizeof i->name, "%.*s", (int)info->entry_name.len, (const char *)info->entry_name.ptr);
  const char *start = memmem(info->config_json.ptr, info->config_json.len, "\"do\":\"", 6);
  if (start) sscanf(start + 6, "%31[^\"]", i->what);
  if (is(i, "gate-create")) wait_for_gate();
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_graphql_stage graphql = {.size = sizeof graphql,
                                          .needs = CRB_PART_DOCUMENT | CRB_PART_JSON,
                                          .mutates = CRB_PART_JSON,
                                          .on_request = on_request,
                                          .on_result = on_result};
static const crb_http_stage http = {.size = sizeof http, .mutates = CRB_PART_URL, .on_request = on_http_request};

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = THREADS,
                                            .id = "org.carabiner.test.trial",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\",\"required\":[\"do\"],\"additionalProperties\":false,"
                                                             "\"properties\":{\"do\":{\"type\":\"string\"}}}",
                                            .graphql = &graphql,
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
