/* Reads past the end of a view: a number in a header is read until a byte that is not a digit. */
/* ONLY: ME01 */
/* Gives responses an Age-Limit header, from max-age in Cache-Control, at most one hour. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.max-age\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

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

enum { HOUR = 3600 };

/* The place behind `name` in a list of directives, or SIZE_MAX. */
static size_t behind(crb_view list, const char *name) {
  const size_t n = strlen(name);
  for (size_t i = 0; i + n <= list.len; i++) {
    const int starts = i == 0 || list.ptr[i - 1] == ',' || list.ptr[i - 1] == ' ' || list.ptr[i - 1] == '\t';
    if (starts && strncasecmp((const char *)list.ptr + i, name, n) == 0) return i + n;
  }
  return SIZE_MAX;
}

static unsigned long number_at(const uint8_t *p) {
  unsigned long value = 0;
  while (*p >= '0' && *p <= '9') {
    if (value <= HOUR) value = value * 10 + (*p - '0');
    p++;
  }
  return value;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state;
  if (head->status != 200) return CRB_CONTINUE;
  crb_view control;
  const crb_status status = host->header_get(call, text("Cache-Control"), &control);
  if (status == CRB_E_NOTFOUND) return CRB_CONTINUE;
  if (status != CRB_OK) return fail(call, "Cache-Control cannot be read");
  unsigned long limit = 0;
  if (behind(control, "no-store") == SIZE_MAX) {
    const size_t at = behind(control, "max-age=");
    if (at == SIZE_MAX || at == control.len) return CRB_CONTINUE;
    limit = number_at(control.ptr + at);
    if (limit > HOUR) limit = HOUR;
  }
  char value[24];
  snprintf(value, sizeof value, "%lu", limit);
  if (host->header_set(call, text("Age-Limit"), text(value), CRB_HEADER_REPLACE) != CRB_OK) {
    return fail(call, "the host does not take the header Age-Limit");
  }
  return CRB_CONTINUE;
}

static const crb_http_stage http = {.size = sizeof http, .needs = CRB_PART_HEADERS, .mutates = CRB_PART_HEADERS,
                                    .on_request = on_request, .on_head = on_head};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.max-age",
    .version = "1.0.0",
    .http = &http,
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
