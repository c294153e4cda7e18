/* Uses the services of its host. The configuration selects the test: {"mode": "...", "url": "..."}
 *
 *   fetch        answers with the body of `url`
 *   guess        answers with the number of ids that allow a fetch, among the first 100,000 numbers and those near its own
 *   lend         puts its own id into the baggage
 *   borrow       answers with the services that work with another plugin's id
 *   timers       arms and cancels ten thousand timers that are due much later
 *   own-timer    answers whether its own timer fires
 *   memory       uses all memory of the process, and asks the host for more
 *   quota        answers with the number of bytes it gets in buffers of 1 MiB, and whether it gets them again */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef UNIQUE
/* Two builds with different numbers are two libraries. */
__attribute__((used)) static const unsigned unique = UNIQUE;
#endif

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.services\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char mode[32];
  char url[256];
} instance;

typedef struct pending {
  const instance *instance;
  crb_call call;
  crb_token token;
} pending;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* Responds to the operation with a name. */
static crb_verdict say(const instance *i, crb_call call, const char *name) {
  char json[512];
  uint8_t *bytes = NULL;
  int n = snprintf(json, sizeof json, "{\"data\":{\"hero\":{\"name\":\"%s\"}}}", name);
  crb_buf buffer = host->buf_alloc(i->self, (size_t)n, &bytes);
  if (!buffer) return CRB_FAIL;
  memcpy(bytes, json, (size_t)n);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
}

static void fetched(void *user, const crb_head *head, crb_view body, const crb_error *error) {
  pending *p = user;
  char name[256];
  (void)head;
  if (error) snprintf(name, sizeof name, "error");
  else snprintf(name, sizeof name, "%.*s", (int)(body.len < 200 ? body.len : 200), (const char *)body.ptr);
  host->resume(p->token, say(p->instance, p->call, name));
  free(p);
}

static crb_verdict fetch(const instance *i, crb_call call, crb_self who) {
  const crb_fetch_service *service = host->query(who, "crb.fetch/1");
  if (!service) return say(i, call, "no service");
  crb_fetch_request request = {.size = sizeof request, .url = text(i->url)};
  pending *p = malloc(sizeof *p);
  *p = (pending){i, call, host->suspend(call)};
  if (service->start(who, &request, fetched, p) == CRB_OK) return CRB_PENDING;
  host->resume(p->token, say(i, call, "not started"));
  free(p);
  return CRB_PENDING;
}

static crb_verdict guess(const instance *i, crb_call call) {
  char name[64];
  unsigned found = 0;
  for (crb_self who = 0; who < 100000; who++) found += host->query(who, "crb.fetch/1") != NULL;
  for (crb_self near = 1; near < 100000; near++) {
    found += host->query(i->self + near, "crb.fetch/1") != NULL;
    found += host->query(i->self - near, "crb.fetch/1") != NULL;
  }
  snprintf(name, sizeof name, "found %u", found);
  return say(i, call, name);
}

static crb_verdict lend(const instance *i, crb_call call) {
  crb_value value = {.type = CRB_VALUE_I64, .n.i = (int64_t)i->self};
  return host->bag_set(call, host->key(i->self, text("test.lent")), CRB_SCOPE_CALL, &value) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static void never(void *user) { (void)user; }

static crb_verdict borrow(const instance *i, crb_call call) {
  crb_value value;
  char name[128];
  uint8_t *bytes = NULL;
  if (host->bag_get(call, host->key(i->self, text("test.lent")), &value) != CRB_OK) return CRB_FAIL;
  crb_self lent = (crb_self)value.n.i;
  const crb_timer_service *timers = host->query(i->self, "crb.timer/1");
  snprintf(name, sizeof name, "query %d, timer %d, buffer %d", host->query(lent, "crb.fetch/1") != NULL,
           timers->arm(lent, UINT64_C(3600000000000), never, NULL) != 0, host->buf_alloc(lent, 8, &bytes) != 0);
  return say(i, call, name);
}

static crb_verdict arm_and_cancel(const instance *i, crb_call call) {
  const crb_timer_service *timers = host->query(i->self, "crb.timer/1");
  unsigned cancelled = 0;
  char name[64];
  for (int n = 0; n < 10000; n++) {
    crb_timer timer = timers->arm(i->self, UINT64_C(3600000000000), never, NULL);
    cancelled += timer && timers->cancel(timer) == CRB_OK && timers->cancel(timer) == CRB_E_STALE;
  }
  snprintf(name, sizeof name, "cancelled %u", cancelled);
  return say(i, call, name);
}

static void fired(void *user) {
  pending *p = user;
  host->resume(p->token, say(p->instance, p->call, "fired"));
  free(p);
}

static crb_verdict own_timer(const instance *i, crb_call call) {
  const crb_timer_service *timers = host->query(i->self, "crb.timer/1");
  pending *p = malloc(sizeof *p);
  *p = (pending){i, call, host->suspend(call)};
  return timers->arm(i->self, 1000, fired, p) ? CRB_PENDING : CRB_FAIL;
}

/* The size of the process's address space. */
static size_t address_space(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) abort();
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static crb_verdict exhaust(const instance *i, crb_call call) {
  struct rlimit before, tight;
  uint8_t *bytes = NULL;
  unsigned got = 0;
  char name[64];
  /* The request is twice the available memory. The process's own needs are in between. */
  uint8_t *given = NULL;
  crb_buf large = host->buf_alloc(i->self, 96u << 20, &given);
  if (!large) return CRB_FAIL;
  memset(given, '1', 96u << 20);
  if (getrlimit(RLIMIT_AS, &before)) abort();
  tight = before;
  tight.rlim_cur = address_space() + (48u << 20);
  if (setrlimit(RLIMIT_AS, &tight)) abort();
  got += host->buf_alloc(i->self, 128u << 20, &bytes) != 0;
  /* The copy that emit() makes does not fit either. */
  crb_status emitted = host->emit(call, CRB_EMIT_RESULT, large, 0);
  if (setrlimit(RLIMIT_AS, &before)) abort();
  snprintf(name, sizeof name, "got %u, emit %d", got, emitted);
  return say(i, call, name);
}

static crb_verdict quota(const instance *i, crb_call call) {
  enum { MOST = 1024 };
  crb_buf held[MOST];
  unsigned counts[2];
  char name[64];
  for (int turn = 0; turn < 2; turn++) {
    unsigned n = 0;
    uint8_t *bytes = NULL;
    while (n < MOST && (held[n] = host->buf_alloc(i->self, 1u << 20, &bytes)) != 0) n++;
    counts[turn] = n;
    while (n > 0) host->buf_release(held[--n]);
  }
  snprintf(name, sizeof name, "%u then %u", counts[0], counts[1]);
  return say(i, call, name);
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const instance *i = inst;
  (void)state;
  if (!strcmp(i->mode, "fetch")) return fetch(i, call, i->self);
  if (!strcmp(i->mode, "guess")) return guess(i, call);
  if (!strcmp(i->mode, "lend")) return lend(i, call);
  if (!strcmp(i->mode, "borrow")) return borrow(i, call);
  if (!strcmp(i->mode, "timers")) return arm_and_cancel(i, call);
  if (!strcmp(i->mode, "own-timer")) return own_timer(i, call);
  if (!strcmp(i->mode, "memory")) return exhaust(i, call);
  if (!strcmp(i->mode, "quota")) return quota(i, call);
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .mutates = CRB_PART_JSON, .on_request = on_request};

static void member(const char *json, const char *name, char *out, size_t room) {
  const char *at = strstr(json, name);
  size_t used = 0;
  if (!at) return;
  for (at += strlen(name); *at && *at != '"' && used < room - 1; at++) out[used++] = *at;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  instance *i = calloc(1, sizeof *i);
  char *json = strndup((const char *)info->config_json.ptr, info->config_json.len);
  (void)h, (void)why;
  i->self = info->self;
  member(json, "\"mode\":\"", i->mode, sizeof i->mode);
  member(json, "\"url\":\"", i->url, sizeof i->url);
  free(json);
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.services",
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
