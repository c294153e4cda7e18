/* Reads, drops or ends the results of a response in parts, or makes such a response. {"mode": "..."} */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.parts\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char mode[32];
  atomic_uint seen;
} instance;

static int is(const instance *i, const char *mode) { return strcmp(i->mode, mode) == 0; }

static crb_status emit(const instance *i, crb_call call, const char *json, uint32_t flags) {
  uint8_t *target = NULL;
  crb_buf buffer = host->buf_alloc(i->self, strlen(json), &target);
  if (!target) return CRB_E_NOMEM;
  memcpy(target, json, strlen(json));
  return host->emit(call, CRB_EMIT_RESULT, buffer, flags);
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  *state = inst;
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  instance *i = inst;
  (void)state;
  if (is(i, "drop-incremental") && result->flags & CRB_RESULT_INCREMENTAL) return CRB_DROP;
  if (is(i, "drop-every-second") && atomic_fetch_add(&i->seen, 1) % 2 == 1) return CRB_DROP;
  if (is(i, "finish-second") && result->seq == 1) return CRB_FINISH;
  if (!is(i, "describe")) return CRB_CONTINUE;
  char text[512];
  snprintf(
      text, sizeof text, "{\"data\":{\"seq\":%d,\"next\":%d,\"incremental\":%d,\"path\":%.*s,\"label\":\"%.*s\"}}", (int)result->seq,
      !!(result->flags & CRB_RESULT_HAS_NEXT), !!(result->flags & CRB_RESULT_INCREMENTAL), result->path.ptr ? (int)result->path.len : 4,
      result->path.ptr ? (const char *)result->path.ptr : "null", (int)result->label.len,
      result->label.ptr ? (const char *)result->label.ptr : "");
  return emit(i, call, text, 0) == CRB_OK ? CRB_CONTINUE : CRB_FAIL;
}

/* As a parser it takes any response, and makes a result from each byte. */
static crb_verdict on_head(void *inst, crb_call call, void **state, const crb_head *head) {
  (void)call, (void)head;
  *state = inst;
  return is(inst, "parser") ? CRB_CONTINUE : CRB_DROP;
}

static crb_verdict on_chunk(void *inst, crb_call call, void *state, const crb_chunk *chunk) {
  instance *i = inst;
  (void)state;
  for (size_t n = 0; n < chunk->bytes.len; n++) {
    char text[64];
    snprintf(text, sizeof text, "{\"data\":{\"byte\":%d}}", chunk->bytes.ptr[n]);
    uint32_t flags = CRB_RESULT_INCREMENTAL | (chunk->bytes.ptr[n] == '.' ? 0 : CRB_RESULT_HAS_NEXT);
    if (emit(i, call, text, flags) != CRB_OK) return CRB_FAIL;
  }
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {
    .size = sizeof graphql, .needs = CRB_PART_JSON, .mutates = CRB_PART_JSON, .on_request = on_request, .on_result = on_result};
static const crb_parser_stage parser = {.size = sizeof parser, .needs = CRB_PART_CHUNK, .on_head = on_head, .on_chunk = on_chunk};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  char text[128] = "";
  size_t n = info->config_json.len < sizeof text - 1 ? info->config_json.len : sizeof text - 1;
  memcpy(text, info->config_json.ptr, n);
  sscanf(text, "{\"mode\":\"%31[^\"]\"}", i->mode);
  i->self = info->self;
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {
    .size = sizeof interceptor,
    .thread_class = CRB_THREADS_CONCURRENT,
    .id = "org.carabiner.test.parts",
    .version = "1.0.0",
    .config_schema = "{\"type\":\"object\",\"required\":[\"mode\"],\"properties\":{\"mode\":{\"type\":\"string\"}}}",
    .graphql = &graphql,
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
