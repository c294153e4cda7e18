/* Writes one line of JSON for each operation, to a file or to syslog. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "writer.h"

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.audit-log\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum {
  MAXIMUM_LINE = 16384,
  MAXIMUM_NAME = 128,
  MAXIMUM_MESSAGE = 256,
  MAXIMUM_VALUE = 256,
  MAXIMUM_VARIABLES = 4096,
  MAXIMUM_HEADERS = 16,
  MAXIMUM_HEADER_NAME = 64,
  DEFAULT_QUEUE = 4 << 20,
};

static const crb_host *host;

typedef struct audit {
  crb_self self;
  writer *lines;
  int shows_variables;
  size_t header_count;
  char headers[MAXIMUM_HEADERS][MAXIMUM_HEADER_NAME + 1];
} audit;

/* A call. Its end may be on another thread than its hooks: on_cancel may overlap them. */
typedef struct record {
  struct record *earlier; /* Of an attempt whose line was written. on_cancel may still read it. */
  struct timespec start;
  atomic_int is_written;
  atomic_uint results, with_errors;
  size_t length;
  char request[]; /* The beginning of the line. */
} record;

static crb_view view(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

static const char *type_name(crb_call call) {
  switch (host->operation_type(call)) {
    case CRB_OPERATION_QUERY: return "query";
    case CRB_OPERATION_MUTATION: return "mutation";
    case CRB_OPERATION_SUBSCRIPTION: return "subscription";
    default: return "unknown";
  }
}

static int is_same_name(crb_view name, const char *other) {
  return name.len == strlen(other) && strncasecmp((const char *)name.ptr, other, name.len) == 0;
}

/* The chosen headers that the request has. Sensitive values are not written. */
static void add_headers(const audit *a, crb_call call, text *line) {
  const crb_header *fields;
  size_t count;
  if (!a->header_count || host->headers(call, &fields, &count) != CRB_OK) return;
  text_add(line, ",\"headers\":{");
  const char *comma = "";
  for (size_t i = 0; i < a->header_count; i++) {
    for (size_t k = 0; k < count; k++) {
      if (!is_same_name(fields[k].name, a->headers[i])) continue;
      text_add(line, "%s\"%s\":", comma, a->headers[i]);
      text_add_string(line, fields[k].flags & CRB_HEADER_SENSITIVE ? view("(sensitive)") : fields[k].value, MAXIMUM_VALUE);
      comma = ",";
      break;
    }
  }
  text_add(line, "}");
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const audit *a = inst;
  record *r = *state;
  if (r && !atomic_load(&r->is_written)) return CRB_CONTINUE; /* A retry: the line is written at the end. */
  char now[32], bytes[MAXIMUM_LINE - 1024];
  text line = {bytes, 0, sizeof bytes - 32, 0};
  format_time(now);
  text_add(&line, "{\"time\":\"%s\",\"id\":\"%016llx\",\"type\":\"%s\"", now, (unsigned long long)host->request_id(call), type_name(call));
  crb_view value = {NULL, 0};
  if (host->field_get(call, CRB_PART_OPERATION_NAME, &value) == CRB_OK) {
    text_add(&line, ",\"name\":");
    text_add_string(&line, value, MAXIMUM_NAME);
  }
  size_t whole = line.length;
  add_headers(a, call, &line);
  if (!line.is_full) whole = line.length;
  if (!line.is_full && a->shows_variables && host->field_get(call, CRB_PART_VARIABLES, &value) == CRB_OK && value.len) {
    if (value.len <= MAXIMUM_VARIABLES) {
      text_add(&line, ",\"variables\":");
      text_add_json(&line, value);
    } else {
      text_add(&line, ",\"variableBytes\":%zu", value.len);
    }
    if (!line.is_full) whole = line.length;
  }
  if (line.is_full) {
    /* The last part that does not fit is left out as a whole. */
    line.is_full = 0;
    line.length = whole;
    line.limit = sizeof bytes;
    text_add(&line, ",\"isCut\":true");
  }
  record *fresh = malloc(sizeof *fresh + line.length);
  if (!fresh) return CRB_CONTINUE; /* The request goes on. */
  fresh->earlier = r;
  clock_gettime(CLOCK_MONOTONIC, &fresh->start);
  atomic_init(&fresh->results, 0);
  atomic_init(&fresh->with_errors, 0);
  atomic_init(&fresh->is_written, 0);
  fresh->length = line.length;
  memcpy(fresh->request, bytes, line.length);
  *state = fresh;
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call;
  record *r = state;
  if (!r) return CRB_CONTINUE;
  atomic_fetch_add(&r->results, 1);
  if (result->errors.ptr) atomic_fetch_add(&r->with_errors, 1);
  return CRB_CONTINUE;
}

/* Writes the line, once for each record. */
static void finish(const audit *a, crb_call call, record *r, const char *outcome, const crb_error *error) {
  if (!r || atomic_exchange(&r->is_written, 1)) return;
  char bytes[MAXIMUM_LINE];
  text line = {bytes, r->length, sizeof bytes - 1, 0};
  memcpy(bytes, r->request, r->length);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double took = (double)(now.tv_sec - r->start.tv_sec) * 1e3 + (double)(now.tv_nsec - r->start.tv_nsec) / 1e6;
  text_add(&line, ",\"outcome\":\"%s\",\"attempts\":%u,\"results\":%u,\"withErrors\":%u,\"milliseconds\":%.3f", outcome,
           call ? host->attempt(call) + 1 : 1, atomic_load(&r->results), atomic_load(&r->with_errors), took);
  size_t whole = line.length;
  if (error) {
    if (error->http_status) text_add(&line, ",\"status\":%d", error->http_status);
    text_add(&line, ",\"error\":");
    text_add_string(&line, error->message, MAXIMUM_MESSAGE);
    if (!line.is_full && error->origin.len) {
      text_add(&line, ",\"failed\":");
      text_add_string(&line, error->origin, MAXIMUM_NAME);
    }
  }
  if (line.is_full) line.length = whole;
  bytes[line.length++] = '}';
  bytes[line.length++] = '\n';
  writer_add(a->lines, bytes, line.length);
}

static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  finish(inst, call, state, "failed", error);
  return CRB_CONTINUE;
}

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  finish(inst, call, state, "done", NULL);
  return CRB_CONTINUE;
}

static void on_cancel(void *inst, crb_call call, void *state) { finish(inst, call, state, "cancelled", NULL); }

static void release(void *inst, void *state) {
  finish(inst, 0, state, "ended", NULL);
  for (record *r = state; r;) {
    record *earlier = r->earlier;
    free(r);
    r = earlier;
  }
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql,
    .needs = CRB_PART_HEADERS | CRB_PART_OPERATION_NAME | CRB_PART_VARIABLES | CRB_PART_ERRORS,
    .on_request = on_request,
    .on_result = on_result,
    .on_error = on_error,
    .on_end = on_end,
    .on_cancel = on_cancel,
    .release = release};

static uint64_t number(crb_view config, const char *name, uint64_t fallback) {
  crb_view value = json_member(config, name);
  uint64_t result = 0;
  if (!value.len) return fallback;
  for (size_t i = 0; i < value.len; i++) {
    if (value.ptr[i] < '0' || value.ptr[i] > '9' || result > UINT64_MAX / 100) return fallback;
    result = result * 10 + (value.ptr[i] - '0');
  }
  return result;
}

static int is_token(const char *name) {
  static const char others[] = "!#$%&'*+-.^_`|~";
  for (const char *c = name; *c; c++) {
    if (!(*c >= '0' && *c <= '9') && !(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !strchr(others, *c)) return 0;
  }
  return name[0] != 0;
}

/* Keeps the reason of a refusal until the host has read it, on this thread. */
static crb_status refuse(crb_error *why, const char *reason, const char *detail) {
  static _Thread_local char message[400];
  snprintf(message, sizeof message, "%s%.200s", reason, detail);
  why->message = view(message);
  return CRB_E_INVAL;
}

static crb_status read_headers(audit *a, crb_view list, crb_error *why) {
  size_t at = 0;
  crb_view item;
  while (json_element(list, &at, &item)) {
    if (a->header_count == MAXIMUM_HEADERS) return refuse(why, "/headers: at most 16 names are allowed", "");
    char *name = a->headers[a->header_count];
    if (json_string(item, name, sizeof a->headers[0]) < 0 || !is_token(name)) {
      char place[96];
      snprintf(place, sizeof place, "/headers/%zu: this is not the name of a header of at most 64 bytes", a->header_count);
      return refuse(why, place, "");
    }
    a->header_count++;
  }
  return CRB_OK;
}

static crb_status read_sink(crb_view config, sink *target, crb_error *why) {
  crb_view file = json_member(config, "file"), socket = json_member(config, "syslog");
  if (file.ptr && socket.ptr) return refuse(why, "/syslog: give either file or syslog, not both", "");
  if (!file.ptr && !socket.ptr) return refuse(why, "/file: the target is missing; give file or syslog", "");
  target->is_syslog = socket.ptr != NULL;
  if (json_string(target->is_syslog ? socket : file, target->path, sizeof target->path) < 1)
    return refuse(why, target->is_syslog ? "/syslog: " : "/file: ", "this is not a path of 1 to 4000 bytes");
  target->maximum_bytes = number(config, "maximum-bytes", 0);
  target->kept = (unsigned)number(config, "keep", 5);
  int error = sink_open(target);
  if (error == ENOTSUP) return refuse(why, "/file: this is not a regular file: ", target->path);
  if (error) {
    char reason[128], buffer[96];
    snprintf(reason, sizeof reason, "/%s: it cannot be opened: %s: ", target->is_syslog ? "syslog" : "file",
             strerror_r(error, buffer, sizeof buffer));
    return refuse(why, reason, target->path);
  }
  return CRB_OK;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  audit *a = calloc(1, sizeof *a);
  sink *target = calloc(1, sizeof *target);
  crb_status status = a && target ? CRB_OK : CRB_E_NOMEM;
  if (status == CRB_OK) {
    a->self = info->self;
    target->descriptor = -1;
    crb_view shows = json_member(info->config_json, "variables");
    a->shows_variables = shows.len == 4 && memcmp(shows.ptr, "true", 4) == 0;
    status = read_headers(a, json_member(info->config_json, "headers"), why);
  }
  if (status == CRB_OK) status = read_sink(info->config_json, target, why);
  if (status == CRB_OK) {
    a->lines = writer_start(h, info->self, target, (size_t)number(info->config_json, "queue-bytes", DEFAULT_QUEUE));
    if (!a->lines) status = CRB_E_NOMEM;
  }
  free(target);
  if (status != CRB_OK) {
    free(a);
    return status;
  }
  *inst = a;
  return CRB_OK;
}

static void destroy(void *inst) {
  audit *a = inst;
  writer_stop(a->lines);
  free(a);
}

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"examples\":[{\"file\":\"audit.log\",\"headers\":[\"x-user\"]}],\"properties\":{"
    "\"file\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4000},"
    "\"syslog\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":107},"
    "\"maximum-bytes\":{\"type\":\"integer\",\"minimum\":4096,\"maximum\":1099511627776},"
    "\"keep\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
    "\"queue-bytes\":{\"type\":\"integer\",\"minimum\":65536,\"maximum\":268435456},"
    "\"variables\":{\"type\":\"boolean\"},"
    "\"headers\":{\"type\":\"array\",\"maxItems\":16,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64,"
    "\"pattern\":\"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$\"}}}}";

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.audit-log",
                                            .version = "1.0.0",
                                            .name = "Audit log",
                                            .config_schema = schema,
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
