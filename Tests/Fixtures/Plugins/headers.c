/* Changes the headers of requests (configuration "down") and responses ("up"). Each word is a change:
 *   =Name:value sets, +Name:value adds, -Name removes, ?Name copies the result of header_get to X-Read (or "none"), #Name copies the number of
 *   fields with that name in headers() to X-Count, !207 stages a new head with one header, *Name sets it until the host refuses. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.headers\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct stage {
  char down[256], up[256];
} stage;

static crb_view text(const char *text) { return (crb_view){.ptr = (const uint8_t *)text, .len = strlen(text)}; }

static int count(crb_call call, crb_view name) {
  const crb_header *fields;
  size_t all = 0;
  int same = 0;
  if (host->headers(call, &fields, &all) != CRB_OK) return -1;
  for (size_t i = 0; i < all; i++) same += fields[i].name.len == name.len && memcmp(fields[i].name.ptr, name.ptr, name.len) == 0;
  return same;
}

static crb_status change(crb_call call, char *word) {
  char number[32];
  char *colon = strchr(word, ':');
  crb_view name = text(word + 1), value = text(colon ? colon + 1 : "");
  if (colon) name.len = (size_t)(colon - word - 1);
  switch (*word) {
    case '=': return host->header_set(call, name, value, CRB_HEADER_REPLACE);
    case '+': return host->header_set(call, name, value, CRB_HEADER_APPEND);
    case '-': return host->header_set(call, name, (crb_view){0}, 0);
    case '?':
      if (host->header_get(call, name, &value) != CRB_OK) value = text("none");
      return host->header_set(call, text("X-Read"), value, 0);
    case '#':
      snprintf(number, sizeof number, "%d", count(call, name));
      return host->header_set(call, text("X-Count"), text(number), 0);
    case '!': {
      const crb_header fields[] = {{text("X-Head"), text("new"), 0}};
      const crb_head head = {.size = sizeof head, .status = (uint32_t)atoi(word + 1), .headers = fields, .header_count = 1};
      return host->set_head(call, &head);
    }
    case '*': {
      crb_status last = CRB_OK;
      for (int i = 0; i < 100000 && last == CRB_OK; i++) last = host->header_set(call, name, text("x"), 0);
      return last == CRB_E_LIMIT ? CRB_OK : CRB_E_INTERNAL;
    }
    default: return CRB_E_INVAL;
  }
}

static crb_verdict changes(crb_call call, const char *words) {
  char copy[256], *rest = copy;
  memcpy(copy, words, sizeof copy);
  for (char *word; (word = strsep(&rest, " "));)
    if (*word && change(call, word) != CRB_OK) return CRB_FAIL;
  return CRB_CONTINUE;
}

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state;
  return changes(call, ((stage *)inst)->down);
}

static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)state, (void)head;
  return changes(call, ((stage *)inst)->up);
}

static void word(char *target, const char *json, const char *key) {
  const char *start = strstr(json, key);
  if (!start) return;
  start += strlen(key);
  size_t length = strcspn(start, "\"");
  memcpy(target, start, length < 255 ? length : 255);
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  char json[1024] = "";
  stage *s = calloc(1, sizeof *s);
  if (!s || info->config_json.len >= sizeof json) {
    free(s);
    return CRB_E_INVAL;
  }
  memcpy(json, info->config_json.ptr, info->config_json.len);
  word(s->down, json, "\"down\":\"");
  word(s->up, json, "\"up\":\"");
  *inst = s;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_http_stage http = {
    .size = sizeof http, .needs = CRB_PART_HEADERS, .mutates = CRB_PART_HEADERS, .on_request = on_request, .on_head = on_head};
static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.headers",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\",\"properties\":{\"down\":{\"type\":\"string\"},"
                                                             "\"up\":{\"type\":\"string\"}},\"additionalProperties\":false}",
                                            .http = &http,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
