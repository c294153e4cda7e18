/* Does in on_request what the header Do says, and puts the result into X-R.  Three interceptors: concurrent, serial, and one for each
 * call.  It is run by driver.c in a worker. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.probe\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { THREADS = 2, QUEUE = 4096 };
static const crb_host *host;
static crb_self self;
static atomic_int creates, destroys, releases, cancels, inside, dropped;
static crb_call late_call;
static crb_token late;

/* Threads that resume tokens. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static crb_token queue[QUEUE];
static unsigned first, end, threads;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

static void *resumer(void *user) {
  (void)user;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (first == end) pthread_cond_wait(&more, &lock);
    crb_token token = queue[first++ % QUEUE];
    pthread_mutex_unlock(&lock);
    if (host->resume(token, CRB_CONTINUE) != CRB_OK) abort();
  }
  return NULL;
}

static void resume_elsewhere(crb_token token) {
  pthread_mutex_lock(&lock);
  for (pthread_t thread; threads < THREADS; threads++) pthread_create(&thread, NULL, resumer, NULL);
  queue[end++ % QUEUE] = token;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}

static void say(crb_call call, const char *result) { host->header_set(call, text("X-R"), text(result), 0); }
static void say_number(crb_call call, long long number) {
  char line[64];
  snprintf(line, sizeof line, "%lld", number);
  say(call, line);
}

static void drop(void *user) { (void)user, dropped++; }
static void fired(void *user) { host->resume((crb_token)(uintptr_t)user, CRB_CONTINUE); }
static void fetched(void *user, const crb_head *head, crb_view body, const crb_error *error) {
  crb_call call = late_call;
  char line[128];
  if (error) snprintf(line, sizeof line, "error %.*s", (int)error->message.len, (const char *)error->message.ptr);
  else snprintf(line, sizeof line, "%u %zu %.*s", head->status, head->header_count, (int)body.len, (const char *)body.ptr);
  say(call, line);
  host->resume((crb_token)(uintptr_t)user, CRB_CONTINUE);
}
static void stored(void *user, const crb_store_answer *answer, const crb_error *error) {
  say_number(late_call, answer ? (long long)answer->count : -(long long)(error != NULL));
  host->resume((crb_token)(uintptr_t)user, CRB_CONTINUE);
}

static crb_verdict emit_many(crb_call call, size_t bytes, int count) {
  for (int n = 0; n < count; n++) {
    uint8_t *to = NULL;
    crb_buf buffer = host->buf_alloc(self, bytes, &to);
    if (!to) return CRB_DROP;
    memset(to, 'x', bytes);
    if (host->emit(call, CRB_EMIT_RESULT, buffer, 0) != CRB_OK) return CRB_FINISH;
  }
  return CRB_RESPOND;
}

static crb_status set_field(crb_call call, uint32_t part, const char *bytes) {
  return host->field_set(call, part, host->buf_adopt(self, bytes, strlen(bytes), drop, NULL));
}

static crb_verdict use_services(crb_call call, const char *what) {
  const crb_fetch_service *fetch = host->query(self, "crb.fetch/1");
  const crb_store_service *store = host->query(self, "crb.store/1");
  if (!fetch || !store) return say(call, "no service"), CRB_CONTINUE;
  crb_token token = host->suspend(call);
  crb_view key = text("QUERY_ROOT");
  crb_fetch_request request = {.size = sizeof request, .url = text("http://example.org/")};
  late_call = call;
  crb_status status = *what == 'f' ? fetch->start(self, &request, fetched, (void *)(uintptr_t)token)
                                   : store->load(self, &key, 1, stored, (void *)(uintptr_t)token);
  if (status == CRB_OK) return CRB_PENDING;
  say_number(call, status);
  host->resume(token, CRB_CONTINUE);
  return CRB_PENDING;
}

static crb_verdict use_message(crb_call call, const char *what) {
  crb_view got = {0};
  crb_value value = {.type = CRB_VALUE_TEXT, .v = text("aurora")};
  char line[256];
  if (!strcmp(what, "document")) {
    int a = host->field_get(call, CRB_PART_DOCUMENT, &got);
    snprintf(line, sizeof line, "%d %.*s", a, (int)got.len, (const char *)got.ptr);
  } else if (!strcmp(what, "fields")) {
    int bad = set_field(call, CRB_PART_VARIABLES, "[1]"), good = set_field(call, CRB_PART_VARIABLES, "{\"a\":1}");
    int text8 = set_field(call, CRB_PART_DOCUMENT, "\xff"), other = set_field(call, CRB_PART_BODY, "x");
    int read = host->field_get(call, CRB_PART_VARIABLES, &got);
    snprintf(line, sizeof line, "%d %d %d %d %d %.*s %d", bad, good, text8, other, read, (int)got.len, (const char *)got.ptr, dropped);
  } else if (!strcmp(what, "headers")) {
    const crb_header *all;
    size_t count = 0;
    int a = host->header_set(call, text("x-one"), text("2"), 0), b = host->header_set(call, text("X-Two"), text("b\r"), 0);
    int c = host->header_set(call, text("X-Gone"), (crb_view){0}, 0), d = host->header_set(call, text("x-one"), text("3"), CRB_HEADER_APPEND);
    int e = host->headers(call, &all, &count), f = host->header_get(call, text("X-ONE"), &got);
    snprintf(line, sizeof line, "%d %d %d %d %d %zu %d %.*s", a, b, c, d, e, count, f, (int)got.len, (const char *)got.ptr);
  } else {
    crb_key key = host->key(self, text("test.value")), other = host->key(self, text("plain"));
    int a = host->bag_get(call, key, &value), b = host->bag_set(call, key, CRB_SCOPE_CALL, &value), c = host->bag_get(call, key, &value);
    snprintf(line, sizeof line, "%u %u %d %d %d %.*s", key, other, a, b, c, (int)value.v.len, (const char *)value.v.ptr);
  }
  say(call, line);
  return CRB_CONTINUE;
}

static crb_verdict wait(crb_call call, const char *what) {
  crb_token token = host->suspend(call);
  if (!strcmp(what, "thread")) return resume_elsewhere(token), CRB_PENDING;
  if (!strcmp(what, "now")) {
    crb_status once = host->resume(token, CRB_CONTINUE), twice = host->resume(token, CRB_CONTINUE);
    say_number(call, once * 100 + twice);
  } else if (!strcmp(what, "pending")) {
    host->resume(token, CRB_PENDING);
  } else if (!strcmp(what, "late")) {
    late = token;
    late_call = call;
  } else if (!strcmp(what, "timer")) {
    const crb_timer_service *timers = host->query(self, "crb.timer/1");
    timers->arm(self, 2000000, fired, (void *)(uintptr_t)token);
  } else {
    return CRB_CONTINUE; /* a fault: the token is armed */
  }
  return CRB_PENDING;
}

static crb_verdict act(crb_call call, void **state, const char *what) {
  if (!strcmp(what, "continue")) return CRB_CONTINUE;
  if (!strncmp(what, "wait-", 5)) return wait(call, what + 5);
  if (!strncmp(what, "use-", 4)) return use_services(call, what + 4);
  if (!strncmp(what, "see-", 4)) return use_message(call, what + 4);
  if (!strcmp(what, "nothing")) return CRB_PENDING; /* without a token */
  if (!strcmp(what, "resume-late")) return say_number(call, host->resume(late, CRB_CONTINUE)), CRB_CONTINUE;
  if (!strcmp(what, "stale")) return say_number(call, host->header_set(late_call, text("A"), text("b"), 0)), CRB_CONTINUE;
  if (!strcmp(what, "state")) return *state = *state ? *state : malloc(8), CRB_CONTINUE;
  if (!strcmp(what, "scratch")) return say_number(call, host->scratch(call, 100, 64) != NULL), CRB_CONTINUE;
  if (!strcmp(what, "small")) return emit_many(call, 100, 2);
  if (!strcmp(what, "large")) return emit_many(call, 1 << 20, 40);
  if (!strcmp(what, "half")) return emit_many(call, 5 << 20, 1);
  if (!strcmp(what, "odd")) return 77;
  if (!strcmp(what, "crash")) *(volatile int *)0 = 1;
  if (!strcmp(what, "log")) host->log(self, CRB_LOG_WARN, call, text("a line"));
  if (!strcmp(what, "until-cancelled")) {
    char line[64];
    int before = cancels, after = before;
    for (int turn = 0; turn < 20000 && (!host->cancelled(call) || after == before); turn++) usleep(1000), after = cancels;
    snprintf(line, sizeof line, "%d %d", host->cancelled(call), after - before);
    return say(call, line), CRB_CONTINUE;
  }
  if (!strcmp(what, "cancelled")) return say_number(call, host->cancelled(call)), CRB_CONTINUE;
  if (!strcmp(what, "fail")) {
    crb_error error = {.size = sizeof error, .code = 7, .message = text("refused"), .http_status = 403};
    return host->set_error(call, &error), CRB_FAIL;
  }
  if (!strcmp(what, "facts")) {
    char line[128];
    snprintf(line, sizeof line, "%llu %llu %u %u %d %d", (unsigned long long)host->request_id(call), (unsigned long long)host->deadline_ns(call),
             host->attempt(call), host->operation_type(call), host->log_enabled(self, CRB_LOG_WARN), host->log_enabled(self, CRB_LOG_INFO));
    return say(call, line), CRB_CONTINUE;
  }
  if (!strcmp(what, "counts")) {
    char line[64];
    snprintf(line, sizeof line, "%d %d %d %d", creates, destroys, releases, cancels);
    return say(call, line), CRB_CONTINUE;
  }
  return CRB_FAIL;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  crb_view what = {0};
  char word[32] = "";
  if (inst && atomic_fetch_add(&inside, 1) != 0) return -9; /* of a serial instance */
  if (host->header_get(call, text("Do"), &what) == CRB_OK && what.len < sizeof word) memcpy(word, what.ptr, what.len);
  crb_verdict verdict = act(call, state, word);
  if (inst) atomic_fetch_sub(&inside, 1);
  return verdict;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst;
  char line[128];
  snprintf(line, sizeof line, "%d %llu %.*s %d", state != NULL, (unsigned long long)result->seq, (int)result->json.len,
           (const char *)result->json.ptr, host->header_set(call, text("A"), text("b"), 0));
  crb_status status = host->emit(call, CRB_EMIT_RESULT, host->buf_adopt(self, line, strlen(line), drop, NULL), 0);
  return status == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static void on_cancel(void *inst, crb_call call, void *state) {
  (void)inst, (void)state;
  cancels += host->cancelled(call) == 1;
}

static void release(void *inst, void *state) {
  (void)inst;
  free(state);
  releases++;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h;
  creates++;
  if (!self) self = info->self;
  if (info->config_json.len > 2) return why->message = text("the probe takes no configuration"), CRB_E_INVAL;
  *inst = info->entry_name.len == 6 ? malloc(1) : NULL; /* serial */
  return CRB_OK;
}
static void destroy(void *inst) {
  free(inst);
  destroys++;
}

enum { READS = CRB_PART_HEADERS | CRB_PART_DOCUMENT | CRB_PART_VARIABLES | CRB_PART_JSON };
static const crb_graphql_stage graphql = {.size = sizeof graphql, .needs = READS, .mutates = READS, .on_request = on_request,
                                          .on_result = on_result, .on_cancel = on_cancel, .release = release};
#define PROBE(name, threads)                                                                                              \
  static const crb_interceptor name = {.size = sizeof name, .thread_class = threads, .id = "org.carabiner.test." #name, \
                                       .version = "1.0.0", .graphql = &graphql, .create = create, .destroy = destroy}
PROBE(probe, CRB_THREADS_CONCURRENT);
PROBE(serial, CRB_THREADS_SERIAL);
PROBE(percall, CRB_THREADS_PER_CALL);
static const crb_interceptor *const items[] = {&probe, &serial, &percall};
static void deinit(void) { if (write(2, "deinit\n", 7) < 0) abort(); }
static const crb_plugin plugin = {.size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 3,
                                  .items = items, .deinit = deinit};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
