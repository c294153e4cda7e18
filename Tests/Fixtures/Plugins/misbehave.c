/* A plugin whose configuration selects an action. Most of them are forbidden. {"mode": "..."} */
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.misbehave\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char mode[64];
  crb_call last_call;
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static int is(const instance *i, const char *mode) { return strcmp(i->mode, mode) == 0; }

static crb_verdict fail(crb_call call, const char *message) {
  crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static crb_status emit(const instance *i, crb_call call, const char *json) {
  uint8_t *target = NULL;
  crb_buf buffer = host->buf_alloc(i->self, strlen(json), &target);
  memcpy(target, json, strlen(json));
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0);
}

typedef struct later {
  crb_token token;
  crb_verdict verdict;
  int twice;
  int *second;
} later;

static void *resume_later(void *argument) {
  later *l = argument;
  usleep(2000);
  host->resume(l->token, l->verdict);
  if (l->twice && host->resume(l->token, CRB_FAIL) != CRB_E_STALE) abort();
  free(l);
  return NULL;
}

static crb_verdict pending(crb_call call, crb_verdict verdict, int twice) {
  later *l = calloc(1, sizeof *l);
  l->token = host->suspend(call);
  l->verdict = verdict;
  l->twice = twice;
  pthread_t thread;
  /* In a worker the number of threads is limited. */
  if (pthread_create(&thread, NULL, resume_later, l) != 0) return resume_later(l), CRB_PENDING;
  pthread_detach(thread);
  return CRB_PENDING;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  instance *i = inst;
  *state = i;
  char number[32];
  crb_view out;
  if (strncmp(i->mode, "fail-aloud ", 11) == 0) {
    host->log(i->self, CRB_LOG_ERROR, call, text(i->mode));
    return fail(call, i->mode);
  }
  if (is(i, "unknown-verdict")) return 99;
  if (is(i, "negative-verdict")) return -3;
  if (is(i, "recover-in-request")) return CRB_RECOVER;
  if (is(i, "pending-without-token")) return CRB_PENDING;
  if (is(i, "suspend-without-pending")) return host->suspend(call) ? CRB_CONTINUE : CRB_FAIL;
  if (is(i, "two-tokens")) {
    crb_token first = host->suspend(call), second = host->suspend(call);
    if (!first || second) return fail(call, "a second token was given");
    host->resume(first, CRB_CONTINUE);
    return CRB_PENDING;
  }
  if (is(i, "resume-before-return")) {
    crb_token token = host->suspend(call);
    return host->resume(token, CRB_CONTINUE) == CRB_OK ? CRB_PENDING : CRB_FAIL;
  }
  if (is(i, "resume-later")) return pending(call, CRB_CONTINUE, 0);
  if (is(i, "resume-twice")) return pending(call, CRB_CONTINUE, 1);
  if (is(i, "resume-with-fail")) return pending(call, CRB_FAIL, 0);
  if (is(i, "resume-with-pending")) return pending(call, CRB_PENDING, 0);
  if (is(i, "never-resume")) return host->suspend(call) ? CRB_PENDING : CRB_FAIL;
  if (is(i, "respond-empty")) return CRB_RESPOND;
  if (is(i, "respond")) return emit(i, call, "{\"data\":{\"hero\":{\"name\":\"plugin\"}}}") == CRB_OK ? CRB_RESPOND : CRB_FAIL;
  if (is(i, "respond-garbage")) return emit(i, call, "{\"data\":") == CRB_OK ? CRB_RESPOND : CRB_FAIL;
  if (is(i, "continue-after-emit")) {
    emit(i, call, "{\"data\":{}}");
    return CRB_CONTINUE;
  }
  if (is(i, "header-crlf")) {
    snprintf(number, sizeof number, "status %d", host->header_set(call, text("X-Bad"), text("a\r\nb"), 0));
    return fail(call, number);
  }
  if (is(i, "endless-sizes")) {
    uint8_t *target = NULL;
    crb_view endless = {(const uint8_t *)"x", SIZE_MAX};
    crb_head head = {.size = sizeof head, .status = 200, .headers = (const crb_header[]){{text("A"), text("b"), 0}}, .header_count = SIZE_MAX};
    int refused = host->buf_alloc(i->self, SIZE_MAX, &target) == 0;
    refused += host->buf_alloc(i->self, SIZE_MAX / 2, &target) == 0;
    refused += host->buf_adopt(i->self, "x", SIZE_MAX, NULL, NULL) == 0;
    crb_buf b = host->buf_alloc(i->self, 4, &target);
    refused += host->buf_slice(b, SIZE_MAX, 1) == 0;
    refused += host->buf_slice(b, 1, SIZE_MAX) == 0;
    host->buf_release(b);
    refused += host->scratch(call, SIZE_MAX, 8) == NULL;
    refused += host->scratch(call, 8, SIZE_MAX) == NULL;
    refused += host->header_set(call, endless, text("b"), 0) != CRB_OK;
    refused += host->header_set(call, text("X-A"), endless, 0) != CRB_OK;
    refused += host->set_head(call, &head) != CRB_OK;
    host->log(i->self, CRB_LOG_INFO, call, endless);
    snprintf(number, sizeof number, "refused %d", refused);
    return fail(call, number);
  }
  if (is(i, "undeclared-edit")) {
    uint8_t *target;
    crb_buf b = host->buf_alloc(i->self, 1, &target);
    target[0] = 'x';
    snprintf(number, sizeof number, "status %d", host->field_set(call, CRB_PART_DOCUMENT, b));
    return fail(call, number);
  }
  if (is(i, "undeclared-read")) {
    snprintf(number, sizeof number, "status %d", host->field_get(call, CRB_PART_DOCUMENT, &out));
    return fail(call, number);
  }
  if (is(i, "stale-handle")) {
    snprintf(number, sizeof number, "status %d", host->header_set(call + 1, text("X-A"), text("b"), 0));
    return fail(call, number);
  }
  if (is(i, "stale-buffer")) {
    uint8_t *target;
    crb_buf b = host->buf_alloc(i->self, 1, &target);
    host->buf_release(b);
    snprintf(number, sizeof number, "status %d", host->buf_release(b));
    return fail(call, number);
  }
  if (is(i, "last-call-is-stale") && i->last_call) {
    crb_status status;
    int tries = 10000;
    /* In a worker, another thread may still be about to release the call. */
    while ((status = host->header_set(i->last_call, text("X-A"), text("b"), 0)) == CRB_E_STATE && --tries) usleep(1000);
    snprintf(number, sizeof number, "status %d", status);
    return fail(call, number);
  }
  if (is(i, "last-call-is-stale")) i->last_call = call;
  if (is(i, "header")) host->header_set(call, text("X-Plugin"), text("yes"), 0);
  if (is(i, "retry-always")) return CRB_RETRY;
  if (is(i, "retry-once") && host->attempt(call) == 0) return CRB_RETRY;
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  instance *i = inst;
  (void)state, (void)result;
  if (is(i, "drop")) return CRB_DROP;
  if (is(i, "replace")) return emit(i, call, "{\"data\":{\"hero\":{\"name\":\"replaced\"}}}") == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
  if (is(i, "respond-in-result")) return CRB_RESPOND;
  if (is(i, "fail-in-result")) return fail(call, "not this one");
  return CRB_CONTINUE;
}

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  instance *i = inst;
  (void)state;
  if (is(i, "recover")) return emit(i, call, "{\"data\":{\"hero\":{\"name\":\"recovered\"}}}") == CRB_OK ? CRB_RECOVER : CRB_FAIL;
  if (is(i, "drop-error")) return CRB_DROP;
  if (is(i, "retry-in-error")) return CRB_RETRY;
  if (is(i, "replace-error")) return fail(call, error->http_status == 500 ? "it was a 500" : "it was something else");
  return CRB_CONTINUE;
}

static void on_cancel(void *inst, crb_call call, void *state) { (void)inst, (void)call, (void)state; }
static void release(void *inst, void *state) {
  (void)inst;
  if (!state) abort();
}

static const crb_graphql_stage graphql = {.size = sizeof graphql,
                                          .needs = CRB_PART_HEADERS,
                                          .mutates = CRB_PART_HEADERS | CRB_PART_JSON,
                                          .on_request = on_request,
                                          .on_result = on_result,
                                          .on_error = on_error,
                                          .on_cancel = on_cancel,
                                          .release = release};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  instance *i = calloc(1, sizeof *i);
  i->self = info->self;
  size_t used = 0;
  const char *start = info->config_json.len > 9 ? (const char *)info->config_json.ptr + 9 : "";
  while (used < sizeof i->mode - 1 && used + 9 < info->config_json.len && start[used] != '"') used++;
  memcpy(i->mode, start, used);
  if (is(i, "refuse")) {
    why->message = text("this configuration is refused");
    free(i);
    return CRB_E_INVAL;
  }
  if (strncmp(i->mode, "refuse-aloud ", 13) == 0) {
    static char aloud[sizeof i->mode];
    memcpy(aloud, i->mode, sizeof aloud);
    h->log(i->self, CRB_LOG_ERROR, 0, text(aloud));
    why->message = text(aloud);
    free(i);
    return CRB_E_INVAL;
  }
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.misbehave",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\",\"required\":[\"mode\"],\"additionalProperties\":false,"
                                                             "\"properties\":{\"mode\":{\"type\":\"string\"}}}",
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
