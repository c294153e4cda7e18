/* A cache that keeps its results in the host's store, and one that makes invalid requests to the store.
 * {"mode": "..."} */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.store\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  const crb_store_service *store;
  char mode[32];
  atomic_int answers;
} instance;

/* A suspended hook that waits for the store. */
typedef struct waiting {
  instance *owner;
  crb_call call;
  crb_token token;
  int step;
} waiting;

static const char opening[] = "{\"Kit:1\":{\"answer\":";

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static int is(const instance *i, const char *mode) { return strcmp(i->mode, mode) == 0; }

static crb_verdict fail(crb_call call, crb_view message) {
  crb_error error = {.size = sizeof error, .message = message};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static crb_status emit(const instance *i, crb_call call, const uint8_t *json, size_t n) {
  uint8_t *target = NULL;
  crb_buf buffer = host->buf_alloc(i->self, n, &target);
  if (!target) return CRB_E_NOMEM;
  memcpy(target, json, n);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0);
}

static void finish(waiting *w, crb_verdict verdict) {
  host->resume(w->token, verdict);
  free(w);
}

static waiting *wait_for(instance *i, crb_call call) {
  waiting *w = calloc(1, sizeof *w);
  if (!w) abort();
  *w = (waiting){.owner = i, .call = call, .token = host->suspend(call)};
  return w;
}

static crb_verdict started(waiting *w, crb_status status) {
  if (status == CRB_OK) return CRB_PENDING;
  char message[48];
  snprintf(message, sizeof message, "the store answers %d", status);
  finish(w, fail(w->call, text(message)));
  return CRB_PENDING;
}

/* -- a cache -- */

static void loaded(void *user, const crb_store_answer *answer, const crb_error *error) {
  waiting *w = user;
  if (error) return finish(w, fail(w->call, error->message));
  if (answer->count == 0) return finish(w, CRB_CONTINUE);
  size_t head = sizeof opening - 1, tail = 2;
  if (answer->records.len < head + tail || memcmp(answer->records.ptr, opening, head) != 0)
    return finish(w, fail(w->call, text("the record is not as it was written")));
  crb_status status = emit(w->owner, w->call, answer->records.ptr + head, answer->records.len - head - tail);
  finish(w, status == CRB_OK ? CRB_RESPOND : CRB_FAIL);
}

static void done(void *user, const crb_store_answer *answer, const crb_error *error) {
  (void)answer;
  waiting *w = user;
  finish(w, error ? fail(w->call, error->message) : CRB_CONTINUE);
}

/* Publishes, loads and removes records one after another. Each operation starts in the callback of the one before. */
static void chained(void *user, const crb_store_answer *answer, const crb_error *error) {
  waiting *w = user;
  const crb_store_service *store = w->owner->store;
  crb_self self = w->owner->self;
  static const uint64_t counts[] = {2, 2, 1, 1, 1, 1, 0};
  if (error) return finish(w, fail(w->call, error->message));
  if (w->step >= 0 && answer->count != counts[w->step]) return finish(w, fail(w->call, text("another count")));
  crb_view keys[] = {text("C:1"), text("C:2"), text("C:3"), text("C:1")};
  crb_status status = CRB_OK;
  switch (++w->step) {
  case 0: status = store->publish(self, text("{\"C:1\":{\"a\":1},\"C:2\":{\"a\" : [ 1.0, null ]}}"), chained, w); break;
  case 1: status = store->load(self, keys, 4, chained, w); break;
  case 2: status = store->publish(self, text("{\"C:1\":{\"a\":1,\"b\":2},\"C:2\":{}}"), chained, w); break;
  case 3: status = store->remove(self, keys + 1, 2, chained, w); break;
  case 4: status = store->load(self, keys, 3, chained, w); break;
  case 5: status = store->remove_matching(self, text("C:*"), chained, w); break;
  case 6: status = store->load(self, keys, 4, chained, w); break;
  default: return finish(w, CRB_CONTINUE);
  }
  if (status != CRB_OK) finish(w, fail(w->call, text("a step could not be started")));
}

static crb_verdict on_read(void *inst, crb_call call, void **state) {
  instance *i = inst;
  (void)state;
  if (is(i, "store read")) {
    waiting *w = wait_for(i, call);
    crb_view key = text("Kit:1");
    return started(w, i->store ? i->store->load(i->self, &key, 1, loaded, w) : CRB_E_NOTFOUND);
  }
  return CRB_CONTINUE;
}

static crb_verdict on_write(void *inst, crb_call call, void *state, const crb_result *result) {
  instance *i = inst;
  (void)state;
  if (is(i, "store skip")) return CRB_DROP;
  if (is(i, "store write")) {
    size_t head = sizeof opening - 1;
    uint8_t *record = malloc(head + result->json.len + 2);
    if (!record) return CRB_FAIL;
    memcpy(record, opening, head);
    memcpy(record + head, result->json.ptr, result->json.len);
    memcpy(record + head + result->json.len, "}}", 2);
    waiting *w = wait_for(i, call);
    crb_status status =
        i->store ? i->store->publish(i->self, (crb_view){record, head + result->json.len + 2}, done, w) : CRB_E_NOTFOUND;
    free(record);
    return started(w, status);
  }
  if (is(i, "store remove")) {
    waiting *w = wait_for(i, call);
    crb_view key = text("Kit:1");
    return started(w, i->store->remove(i->self, &key, 1, done, w));
  }
  if (is(i, "store remove matching")) {
    waiting *w = wait_for(i, call);
    return started(w, i->store->remove_matching(i->self, text("Kit:*"), done, w));
  }
  return CRB_CONTINUE;
}

/* -- refused operations -- */

static void never(void *user, const crb_store_answer *answer, const crb_error *error) {
  (void)user, (void)answer, (void)error;
  abort();
}

static void count(void *user, const crb_store_answer *answer, const crb_error *error) {
  (void)answer, (void)error;
  atomic_fetch_add(&((instance *)user)->answers, 1);
}

static int refusals(instance *i, char *target, size_t size) {
  const crb_store_service *s = i->store;
  if (!s) return snprintf(target, size, "{\"data\":{\"granted\":false}}");
  crb_self self = i->self;
  crb_view a = text("a"), empty = {(const uint8_t *)"", 0}, absent = {NULL, 0}, bad = {(const uint8_t *)"\xFF", 1};
  crb_view cut = {(const uint8_t *)"\xC3", 1};
  /* The host must not read values with such lengths. */
  crb_view large = {(const uint8_t *)"{}", (size_t)CRB_STORE_MAX_BYTES + 1}, endless = {(const uint8_t *)"{}", SIZE_MAX};
  uint8_t *letters = malloc(CRB_STORE_MAX_KEY_BYTES + 1);
  if (!letters) return 0;
  memset(letters, 'k', CRB_STORE_MAX_KEY_BYTES + 1);
  crb_view too_long = {letters, CRB_STORE_MAX_KEY_BYTES + 1}, long_enough = {letters, CRB_STORE_MAX_KEY_BYTES};
  int n = snprintf(
      target, size,
      "{\"data\":{\"done\":[%d,%d,%d,%d],\"who\":[%d,%d,%d],\"keys\":[%d,%d,%d,%d,%d],\"many\":[%d,%d,%d,%d],"
      "\"json\":[%d,%d,%d,%d,%d,%d,%d,%d],\"large\":[%d,%d,%d],\"patterns\":[%d,%d,%d],\"good\":[%d,%d,%d]}}",
      s->load(self, &a, 1, NULL, NULL), s->publish(self, text("{}"), NULL, NULL), s->remove(self, &a, 1, NULL, NULL),
      s->remove_matching(self, a, NULL, NULL),
      s->load(0, &a, 1, never, NULL), s->publish(host->self, text("{}"), never, NULL), s->remove(UINT64_MAX, &a, 1, never, NULL),
      s->load(self, &empty, 1, never, NULL), s->load(self, &absent, 1, never, NULL), s->remove(self, &bad, 1, never, NULL),
      s->remove(self, &cut, 1, never, NULL), s->load(self, NULL, 1, never, NULL),
      s->load(self, &a, (size_t)CRB_STORE_MAX_KEYS + 1, never, NULL), s->remove(self, &a, SIZE_MAX, never, NULL),
      s->load(self, &too_long, 1, never, NULL), s->remove_matching(self, too_long, never, NULL),
      s->publish(self, text("{\"a\":{\"b\":1}"), never, NULL), s->publish(self, text("[]"), never, NULL),
      s->publish(self, text("{\"a\":1}"), never, NULL), s->publish(self, text("{\"\":{\"b\":1}}"), never, NULL),
      s->publish(self, text("{\"a\":{\"\":1}}"), never, NULL), s->publish(self, text("{\"a\":{\"b\":NaN}}"), never, NULL),
      s->publish(self, absent, never, NULL), s->publish(self, (crb_view){(const uint8_t *)"{\"a\":{\"b\":\"\xFF\"}}", 15}, never, NULL),
      s->publish(self, large, never, NULL), s->publish(self, endless, never, NULL), s->load(self, &endless, 1, never, NULL),
      s->remove_matching(self, empty, never, NULL), s->remove_matching(self, absent, never, NULL),
      s->remove_matching(self, bad, never, NULL),
      s->load(self, NULL, 0, count, i), s->publish(self, text(" { } "), count, i), s->remove(self, &long_enough, 1, count, i));
  free(letters);
  return n;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  instance *i = inst;
  (void)state;
  char answer[1024] = "";
  int n = 0;
  if (is(i, "chained")) {
    waiting *w = wait_for(i, call);
    w->step = -1;
    chained(w, NULL, NULL);
    return CRB_PENDING;
  }
  if (is(i, "refusals")) n = refusals(i, answer, sizeof answer);
  if (is(i, "flood")) {
    crb_view a = text("a");
    crb_status status = CRB_OK;
    int begun = -1;
    for (; status == CRB_OK && begun < 5000; begun++) status = i->store->load(i->self, &a, 1, count, i);
    n = snprintf(answer, sizeof answer, "{\"data\":{\"begun\":%d,\"status\":%d}}", begun, status);
  }
  if (is(i, "answers")) n = snprintf(answer, sizeof answer, "{\"data\":{\"answers\":%d}}", atomic_load(&i->answers));
  if (n == 0) return CRB_CONTINUE;
  /* The next request is answered with the number of completed operations. */
  strcpy(i->mode, "answers");
  return emit(i, call, (const uint8_t *)answer, (size_t)n) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .mutates = CRB_PART_JSON, .on_request = on_request};
static const crb_cache_stage cache = {.size = sizeof cache, .needs = CRB_PART_JSON, .on_read = on_read, .on_write = on_write};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  char config[128] = "";
  size_t n = info->config_json.len < sizeof config - 1 ? info->config_json.len : sizeof config - 1;
  memcpy(config, info->config_json.ptr, n);
  sscanf(config, "{\"mode\":\"%31[^\"]\"}", i->mode);
  i->self = info->self;
  i->store = h->query(info->self, "crb.store/1");
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.carabiner.test.store",
    .version = "1.0.0",
    .config_schema = "{\"type\":\"object\",\"required\":[\"mode\"],\"properties\":{\"mode\":{\"type\":\"string\"}}}",
    .graphql = &graphql,
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
