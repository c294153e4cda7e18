/* A plugin that attacks its host. Its configuration selects the attack: {"mode": "..."}. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.attack.hostile\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char mode[64];
  const crb_timer_service *timers;
  const crb_fetch_service *fetch;
  char target[256];
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static int is(const instance *i, const char *mode) { return strcmp(i->mode, mode) == 0; }

static crb_verdict refuse(crb_call call, const char *message) {
  crb_error error = {.size = sizeof error, .http_status = 418, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

/* -- a thread that reads a body after the timeout of its hook -- */

typedef struct reader {
  crb_token token;
  crb_view body;
} reader;

static void *read_late(void *argument) {
  reader *r = argument;
  volatile uint64_t sum = 0;
  /* The hook's timeout is 100 ms. R3: the view is valid until this thread resumes. */
  for (int round = 0; round < 8; round++) {
    usleep(50000);
    for (size_t n = 0; n < r->body.len; n++) sum += r->body.ptr[n];
  }
  host->resume(r->token, CRB_CONTINUE);
  free(r);
  return NULL;
}

static crb_verdict pend_and_read(crb_call call) {
  reader *r = calloc(1, sizeof *r);
  pthread_t thread;
  if (!r || host->field_get(call, CRB_PART_BODY, &r->body) != CRB_OK) {
    free(r);
    return CRB_CONTINUE;
  }
  r->token = host->suspend(call);
  if (!r->token || pthread_create(&thread, NULL, read_late, r)) abort();
  pthread_detach(thread);
  return CRB_PENDING;
}

/* -- an endless number of buffers -- */

static crb_verdict hoard(const instance *i, crb_call call) {
  uint8_t *bytes = NULL;
  for (int n = 0; n < 100000; n++) {
    if (!host->buf_alloc(i->self, 1 << 20, &bytes)) return refuse(call, "no more memory was given");
    memset(bytes, 1, 4096);
  }
  return refuse(call, "memory was given without a limit");
}

/* -- services granted to other plugins -- */

static crb_verdict steal(const instance *i, crb_call call) {
  int found = 0;
  for (uint64_t id = 0; id < 70000; id++) {
    if (id == i->self) continue;
    found += host->query(id, "crb.fetch/1") != NULL;
    found += host->query(id << 32, "crb.fetch/1") != NULL;
    found += host->query(i->self + id + 1, "crb.fetch/1") != NULL;
    found += host->query(i->self - id - 1, "crb.fetch/1") != NULL;
    if (id < 64) found += host->query(i->self ^ (UINT64_C(1) << id), "crb.fetch/1") != NULL;
  }
  char message[64];
  snprintf(message, sizeof message, "stolen %d", found);
  return refuse(call, message);
}

/* -- forged handles, from four threads -- */

static void *forge(void *argument) {
  uint64_t seed = (uint64_t)(uintptr_t)argument * 0x9E3779B97F4A7C15u + 1;
  for (int n = 0; n < 20000; n++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    uint64_t handle = n % 2 ? seed : (seed & 0xFFFFFFFF0000003F);
    crb_view out;
    const crb_header *fields;
    size_t count;
    host->buf_release(handle);
    host->buf_view(handle);
    host->resume(handle, (crb_verdict)(seed % 9));
    host->header_set(handle, text("X-Forged"), text("x"), 0);
    host->field_get(handle, CRB_PART_BODY, &out);
    host->headers(handle, &fields, &count);
    host->emit(handle, CRB_EMIT_CHUNK, handle, 0);
    host->cancelled(handle);
    host->scratch(handle, 64, 8);
  }
  return NULL;
}

static crb_verdict forge_handles(void) {
  pthread_t threads[4];
  for (uintptr_t n = 0; n < 4; n++)
    if (pthread_create(&threads[n], NULL, forge, (void *)(n + 1))) abort();
  for (int n = 0; n < 4; n++) pthread_join(threads[n], NULL);
  return CRB_CONTINUE;
}

/* -- timers that are armed for an hour and cancelled at once -- */

static void never(void *user) { (void)user; }

static crb_verdict arm_and_cancel(const instance *i) {
  for (int n = 0; n < 20000; n++) {
    crb_timer timer = i->timers->arm(i->self, UINT64_C(3600000000000), never, NULL);
    if (timer) i->timers->cancel(timer);
  }
  return CRB_CONTINUE;
}

/* -- a request whose method contains a whole second request -- */

static void fetched(void *user, const crb_head *head, crb_view body, const crb_error *error) {
  (void)head; (void)body; (void)error;
  host->resume((crb_token)(uintptr_t)user, CRB_CONTINUE);
}

static crb_verdict split_request(const instance *i, crb_call call) {
  static const char *const methods[] = {
      "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\nGET", "GET /smuggled", "GET\t", "G\nT", "POST\r\nX-Forged: 1", "",
      "GET /smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nPOST"};
  static unsigned next;
  unsigned n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
  crb_fetch_request request = {
      .size = sizeof request, .method = text(methods[n % (sizeof methods / sizeof *methods)]), .url = text(i->target)};
  crb_token token = host->suspend(call);
  if (!token) return CRB_CONTINUE;
  if (i->fetch->start(i->self, &request, fetched, (void *)(uintptr_t)token) != CRB_OK) host->resume(token, CRB_CONTINUE);
  return CRB_PENDING;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  instance *i = inst;
  *state = i;
  if (is(i, "pend-and-read")) return pend_and_read(call);
  if (is(i, "hoard")) return hoard(i, call);
  if (is(i, "steal")) return steal(i, call);
  if (is(i, "forge-handles")) return forge_handles();
  if (is(i, "arm-and-cancel")) return arm_and_cancel(i);
  if (is(i, "split-request")) return split_request(i, call);
  if (is(i, "pend-for-ever")) return host->suspend(call) ? CRB_PENDING : CRB_FAIL;
  if (is(i, "refuse-oddly")) {
    static const int statuses[] = {100, 101, 103, 204, 205, 304, 199, 600, -1, 200};
    static unsigned next;
    unsigned n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    crb_error error = {
        .size = sizeof error, .http_status = statuses[n % (sizeof statuses / sizeof *statuses)], .message = text("odd status")};
    host->set_error(call, &error);
    return CRB_FAIL;
  }
  return CRB_CONTINUE;
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  instance *i = inst;
  (void)state;
  if (is(i, "bodiless-status")) {
    static const uint32_t statuses[] = {204, 304, 101, 103, 205};
    static unsigned next;
    unsigned n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    crb_head staged = *head;
    staged.size = sizeof staged;
    staged.status = statuses[n % (sizeof statuses / sizeof *statuses)];
    host->set_head(call, &staged);
  }
  return CRB_CONTINUE;
}

static const crb_http_stage stage = {
    .size = sizeof stage, .needs = CRB_PART_BODY | CRB_PART_HEADERS, .mutates = CRB_PART_HEADERS, .on_request = on_request,
    .on_head = on_head};

/* Copies the text of a member of the configuration; this test has written the JSON. */
static void member(crb_view json, const char *name, char *out, size_t size) {
  char quoted[80];
  snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
  const char *begin = memmem(json.ptr, json.len, quoted, strlen(quoted));
  *out = 0;
  if (!begin) return;
  begin += strlen(quoted);
  const char *end = memchr(begin, '"', (size_t)((const char *)json.ptr + json.len - begin));
  if (end && (size_t)(end - begin) < size) {
    memcpy(out, begin, (size_t)(end - begin));
    out[end - begin] = 0;
  }
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  i->self = info->self;
  member(info->config_json, "mode", i->mode, sizeof i->mode);
  member(info->config_json, "target", i->target, sizeof i->target);
  i->timers = h->query(info->self, "crb.timer/1");
  i->fetch = h->query(info->self, "crb.fetch/1");
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor hostile = {
    .size = sizeof hostile, .thread_class = CRB_THREADS_CONCURRENT, .id = "org.carabiner.attack.hostile", .version = "1.0.0",
    .config_schema = "{\"type\":\"object\"}", .http = &stage, .create = create, .destroy = destroy};
static const crb_interceptor *const items[] = {&hostile};
static const crb_plugin table = {
    .size = sizeof table, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &table;
}
