/* A descriptor stays open for each call: the file is closed only if its text could be parsed as wanted. */
/* ONLY: ME11 */
/* Refuses requests with 503 while the machine's load is above 500. */
#include <carabiner.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <fcntl.h>
#include <unistd.h>

CRB_DECLARE_NOTE("{\"id\":\"org.example.load-shedder\",\"version\":\"1.0.0\",\"abi\":[1,0],\"capabilities\":[\"varies\"]}");

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

enum { LIMIT = 500 };

/* The whole part of the first number; -1 if there is none. */
static long whole(const char *line) {
  long value = 0;
  size_t i = 0;
  for (; line[i] >= '0' && line[i] <= '9' && value < 1000000; i++) value = value * 10 + (line[i] - '0');
  return i > 0 ? value : -1;
}

/* Whether the load is above the limit. */
static int is_busy(long *load) {
  char line[64];
  const int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, line, sizeof line - 1);
  if (n <= 0) {
    close(fd);
    return 0;
  }
  line[n] = 0;
  *load = whole(line);
  if (*load <= LIMIT) return 0;
  close(fd);
  return 1;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  const instance *me = inst;
  long load = 0;
  if (!is_busy(&load)) return CRB_CONTINUE;
  if (host->log_enabled(me->self, CRB_LOG_WARN)) {
    char line[64];
    snprintf(line, sizeof line, "refused at a load of %ld", load);
    host->log(me->self, CRB_LOG_WARN, call, text(line));
  }
  const crb_error error = {.size = sizeof error, .http_status = 503, .retry_after_ns = 5000000000, .flags = CRB_ERROR_LIMIT,
                           .message = text("the machine is overloaded: try again later")};
  host->set_error(call, &error);
  return CRB_FAIL;
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)state;
  const instance *me = inst;
  if (head->status == 503 && host->log_enabled(me->self, CRB_LOG_INFO)) {
    host->log(me->self, CRB_LOG_INFO, call, text("the server sheds load as well"));
  }
  return CRB_CONTINUE;
}

static const crb_http_stage http = {.size = sizeof http, .on_request = on_request, .on_head = on_head};

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.example.load-shedder",
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
