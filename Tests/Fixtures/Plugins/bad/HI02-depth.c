/* Recursion as deep as the input: nested variables or results overflow the stack. */
/* ONLY: HI02 */
/* STATUS: CRASH */
/* Refuses variables with more than 10000 values, and logs the depth of results. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.depth-meter\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }
static crb_view span(const void *p, size_t n) { return (crb_view){(const uint8_t *)p, n}; }

static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

typedef struct instance {
  crb_self self;
} instance;

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = calloc(1, sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

typedef struct scan {
  const uint8_t *p, *end;
  size_t values, depth, deepest;
} scan;

static void skip_blanks(scan *s) {
  while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || *s->p == '\n')) s->p++;
}

static int string(scan *s) {
  s->p++;
  while (s->p < s->end && *s->p != '"') s->p += *s->p == '\\' ? 2 : 1;
  if (s->p >= s->end) return 0;
  s->p++;
  return 1;
}

static int value(scan *s);

/* The elements of a list or the members of an object. */
static int elements(scan *s, uint8_t closing) {
  s->p++;
  if (++s->depth > s->deepest) s->deepest = s->depth;
  skip_blanks(s);
  while (s->p < s->end && *s->p != closing) {
    if (closing == '}') {
      if (*s->p != '"' || !string(s)) return 0;
      skip_blanks(s);
      if (s->p >= s->end || *s->p++ != ':') return 0;
    }
    if (!value(s)) return 0;
    skip_blanks(s);
    if (s->p < s->end && *s->p == ',') s->p++;
    skip_blanks(s);
  }
  if (s->p >= s->end) return 0;
  s->p++;
  s->depth--;
  return 1;
}

static int value(scan *s) {
  skip_blanks(s);
  if (s->p >= s->end) return 0;
  s->values++;
  if (*s->p == '{') return elements(s, '}');
  if (*s->p == '[') return elements(s, ']');
  if (*s->p == '"') return string(s);
  const uint8_t *start = s->p;
  while (s->p < s->end && !strchr(" \t\r\n,]}", *s->p)) s->p++;
  return s->p > start;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view variables;
  const crb_status status = host->field_get(call, CRB_PART_VARIABLES, &variables);
  if (status == CRB_E_NOTFOUND) return CRB_CONTINUE;
  if (status != CRB_OK) return fail(call, "the variables cannot be read");
  scan s = {.p = variables.ptr, .end = variables.ptr + variables.len};
  if (!value(&s) || s.values <= 10000) return CRB_CONTINUE;
  const crb_error error = {.size = sizeof error, .http_status = 400, .flags = CRB_ERROR_LIMIT,
                           .message = text("the variables have more than 10000 values: send fewer at once")};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)state;
  const instance *me = inst;
  if (!result->data.ptr || !host->log_enabled(me->self, CRB_LOG_DEBUG)) return CRB_CONTINUE;
  scan s = {.p = result->data.ptr, .end = result->data.ptr + result->data.len};
  char line[80];
  if (!value(&s)) return CRB_CONTINUE;
  snprintf(line, sizeof line, "%zu values, depth %zu", s.values, s.deepest);
  host->log(me->self, CRB_LOG_DEBUG, call, text(line));
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .needs = CRB_PART_VARIABLES | CRB_PART_DATA,
                                          .on_request = on_request, .on_result = on_result};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.depth-meter",
    .version = "1.0.0",
    .graphql = &graphql,
    .create = create,
    .destroy = destroy,
};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
