/* Stamps requests and responses with STAMP, which identifies the build. Options -DNAME make builds that cannot be started. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STAMP
#define STAMP "one"
#endif

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.stamp\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

static crb_view text(const char *text) { return (crb_view){.ptr = (const uint8_t *)text, .len = strlen(text)}; }

static crb_verdict stamp(void *inst, crb_call call, const char *name) {
  return host->header_set(call, text(name), text(inst ? inst : STAMP), 0) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

#ifdef STAMP_FILE
/* The first line of the file in the configuration, read when the instance is created. */
static char *stamp_of(crb_view config) {
  char path[512] = "", *line = calloc(1, 64);
  const char *start = memmem(config.ptr, config.len, "\"/", 2);
  if (!line || !start || sscanf(start + 1, "%511[^\"]", path) != 1) return line;
  FILE *file = fopen(path, "r");
  if (file && fgets(line, 64, file)) line[strcspn(line, "\n")] = 0;
  if (file) fclose(file);
  return line;
}
#endif

#ifdef RESPONDS_WITH
static crb_self own;

/* Answers with this status, without the network. */
static crb_verdict respond(crb_call call) {
  static const char json[] = "{\"data\":{\"stamp\":\"the plugin\"}}";
  const crb_header type = {.name = text("Content-Type"), .value = text("application/json")};
  const crb_head head = {.size = sizeof head, .status = RESPONDS_WITH, .headers = &type, .header_count = 1};
  uint8_t *bytes = NULL;
  crb_buf body = host->buf_alloc(own, sizeof json - 1, &bytes);
  if (!bytes || host->set_head(call, &head) != CRB_OK) return CRB_FAIL;
  memcpy(bytes, json, sizeof json - 1);
  return host->emit(call, CRB_EMIT_CHUNK, body, 0) == CRB_OK ? CRB_RESPOND : CRB_FAIL;
}
#endif

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
#ifdef REFUSES_WITH
  const crb_error why = {.size = sizeof why,
                         .http_status = REFUSES_WITH,
                         .retry_after_ns = RETRY_AFTER,
                         .message = text("a secret of the plugin"),
                         .detail_json = text("{\"secret\":[1]}")};
  return host->set_error(call, &why) == CRB_OK ? CRB_FAIL : CRB_CONTINUE;
#endif
#ifdef RESPONDS_WITH
  return respond(call);
#endif
  return stamp(inst, call, "X-Stamp-Down");
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)inst, (void)state, (void)head;
#ifdef UP_FAILS
  return CRB_FAIL;
#endif
#ifdef UP_RETRIES
  if (head->status == 503) return CRB_RETRY;
  if (head->status == 418) return CRB_FAIL;
#endif
  return stamp(inst, call, "X-Stamp-Up");
}

static const crb_http_stage http = {
    .size = sizeof http, .needs = CRB_PART_HEADERS, .mutates = CRB_PART_HEADERS, .on_request = on_request, .on_head = on_head};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = NULL;
#ifdef RESPONDS_WITH
  own = info->self;
#endif
#ifdef STAMP_FILE
  *inst = stamp_of(info->config_json);
#endif
#ifdef CREATE_FAILS
  why->message = text("it does not want to");
  return CRB_E_INVAL;
#elif defined(CREATE_CRASHES)
  *(volatile int *)0 = 1;
#elif defined(CREATE_HANGS)
  for (volatile int i = 0;; i++) {}
#endif
  return CRB_OK;
}

#ifdef TRACE
/* Leaves a file as soon as the plugin is mapped. */
__attribute__((constructor)) static void leave_trace(void) {
  FILE *file = fopen(TRACE, "w");
  if (file) fclose(file);
}
#endif

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.carabiner.test.stamp",
    .version = "1.0.0",
#ifdef STAMP_FILE
    .config_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"stamp-file\":"
                     "{\"type\":\"string\"" STAMP_FILE "}}}",
#else
    .config_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
#endif
    .http = &http,
    .create = create};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
#ifdef WAITS
  /* Is loaded only by a process without this variable. */
  while (getenv("STAMP_WAITS")) pause();
#endif
  return &plugin;
}
