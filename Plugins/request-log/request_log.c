/* Logs one line for each operation: type, name, result and duration. Variables and headers are never logged. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.request-log\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { MAXIMUM_LINE = 512, MAXIMUM_NAME = 128 };

static const crb_host *host;

typedef struct logger {
  crb_self self;
} logger;

/* The state of a call between its hooks. */
typedef struct pass {
  struct timespec start;
  unsigned results;
  unsigned with_errors;
} pass;

static const char *type_name(crb_call call) {
  switch (host->operation_type(call)) {
    case CRB_OPERATION_QUERY: return "query";
    case CRB_OPERATION_MUTATION: return "mutation";
    case CRB_OPERATION_SUBSCRIPTION: return "subscription";
    default: return "operation";
  }
}

static double milliseconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) * 1e3 + (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void say(const logger *l, crb_call call, uint32_t level, const pass *p, const char *how, crb_view more) {
  if (!host->log_enabled(l->self, level)) return;
  crb_view name = {NULL, 0};
  int anonymous = host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK;
  char line[MAXIMUM_LINE];
  int n = snprintf(line, sizeof line, "%s %.*s attempt %u: %s, %u results, %u with errors, %.1f ms%s%.*s", type_name(call),
                   anonymous ? 11 : (int)(name.len < MAXIMUM_NAME ? name.len : MAXIMUM_NAME),
                   anonymous ? "(anonymous)" : (const char *)name.ptr, host->attempt(call), how, p->results, p->with_errors,
                   milliseconds_since(&p->start), more.len ? ": " : "", (int)(more.len < 200 ? more.len : 200),
                   more.len ? (const char *)more.ptr : "");
  if (n <= 0) return;
  size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  /* Names and messages come from outside. They must not start a new line or contain control characters for a terminal. */
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) line[i] = ' ';
  }
  host->log(l->self, level, call, (crb_view){(const uint8_t *)line, length});
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  pass *p = *state;
  if (!p) p = calloc(1, sizeof *p); /* a retry has the state of the earlier attempt */
  if (!p) return CRB_CONTINUE;      /* a missing log line must not fail a request */
  p->results = p->with_errors = 0;
  clock_gettime(CLOCK_MONOTONIC, &p->start);
  *state = p;
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call;
  pass *p = state;
  if (!p) return CRB_CONTINUE;
  p->results++;
  if (result->errors.ptr) p->with_errors++;
  return CRB_CONTINUE;
}

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  if (state) say(inst, call, CRB_LOG_WARN, state, "failed", error->message);
  return CRB_CONTINUE;
}

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  if (state) say(inst, call, CRB_LOG_INFO, state, "done", (crb_view){NULL, 0});
  return CRB_CONTINUE;
}

static void on_cancel(void *inst, crb_call call, void *state) {
  (void)state;
  static const char line[] = "cancelled";
  host->log(((logger *)inst)->self, CRB_LOG_INFO, call, (crb_view){(const uint8_t *)line, sizeof line - 1});
}

static void release(void *inst, void *state) {
  (void)inst;
  free(state);
}

static const crb_graphql_stage graphql = {.size = sizeof graphql,
                                          .needs = CRB_PART_OPERATION_NAME | CRB_PART_ERRORS,
                                          .on_request = on_request,
                                          .on_result = on_result,
                                          .on_error = on_error,
                                          .on_end = on_end,
                                          .on_cancel = on_cancel,
                                          .release = release};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  logger *l = calloc(1, sizeof *l);
  if (!l) return CRB_E_NOMEM;
  l->self = info->self;
  *inst = l;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.request-log",
                                            .version = "1.0.0",
                                            .name = "Request log",
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
