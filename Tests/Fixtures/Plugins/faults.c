/* A plugin that breaks the contract a number of times and then works, for tests of the breaker.
 * {"faults": 3, "kind": "verdict" | "hang" | "fail"}; each result contains the number of calls. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.faults\",\"version\":\"1.2.3\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  int faults;
  enum { VERDICT, HANG, FAIL } kind;
  atomic_int calls;
} instance;

/* The verdict of the next call: `good` after the configured number of faults. */
static crb_verdict next(instance *i, crb_call call, crb_verdict good) {
  if (atomic_fetch_add(&i->calls, 1) >= i->faults) return good;
  switch (i->kind) {
  case HANG: return host->suspend(call) ? CRB_PENDING : CRB_FAIL;
  case FAIL: return CRB_FAIL;
  default: return 99;
  }
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  *state = inst;
  return next(inst, call, CRB_CONTINUE);
}

static crb_verdict on_read(void *inst, crb_call call, void **state) {
  (void)state;
  return next(inst, call, CRB_CONTINUE);
}

static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)state, (void)head;
  return next(inst, call, CRB_DROP);
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  instance *i = inst;
  (void)state, (void)result;
  char json[96];
  int length = snprintf(json, sizeof json, "{\"data\":{\"hero\":{\"name\":\"call %d\"}}}", atomic_load(&i->calls));
  uint8_t *target = NULL;
  crb_buf buffer = host->buf_alloc(i->self, (size_t)length, &target);
  memcpy(target, json, (size_t)length);
  return host->emit(call, CRB_EMIT_RESULT, buffer, 0) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .mutates = CRB_PART_JSON, .on_request = on_request, .on_result = on_result};
static const crb_cache_stage cache = {.size = sizeof cache, .on_read = on_read};
static const crb_parser_stage parser = {.size = sizeof parser, .on_head = on_head};

static int number(const char *text, size_t length, const char *key) {
  char copy[256] = {0};
  memcpy(copy, text, length < sizeof copy - 1 ? length : sizeof copy - 1);
  const char *found = strstr(copy, key);
  return found ? atoi(found + strlen(key)) : 0;
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *i = calloc(1, sizeof *i);
  const char *text = (const char *)info->config_json.ptr;
  i->self = info->self;
  i->faults = number(text, info->config_json.len, "\"faults\":");
  if (memmem(text, info->config_json.len, "\"hang\"", 6)) i->kind = HANG;
  if (memmem(text, info->config_json.len, "\"fail\"", 6)) i->kind = FAIL;
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.carabiner.test.faults",
    .version = "1.2.3",
    .config_schema = "{\"type\":\"object\",\"properties\":{\"faults\":{\"type\":\"integer\"},"
                     "\"kind\":{\"enum\":[\"verdict\",\"hang\",\"fail\"]}}}",
    .graphql = &graphql,
    .cache = &cache,
    .parser = &parser,
    .create = create,
    .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
