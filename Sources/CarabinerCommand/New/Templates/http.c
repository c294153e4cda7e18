/* my-plugin adds the header X-Team with the configured value to every HTTP request, and logs the status of each response.
 *
 * A stage never calls the next one. The host calls a hook, and the hook returns a verdict. carabiner.h describes which
 * parts and verdicts each hook has. All code of this file runs on the host's threads, hooks of different calls at the same time
 * (CRB_THREADS_CONCURRENT below), so an instance is read-only after create(). */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plugin's identity, which the host reads without running code. It must match the table at the end. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

enum { MAXIMUM_TEAM = 64 };

/* The host rejects configurations that do not match. The pattern excludes quotes and backslashes, so the value needs no decoding. */
static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"team\"],\"properties\":{\"team\":{\"type\":\"string\","
    "\"pattern\":\"^[A-Za-z0-9._-]{1,64}$\"}}}";

static const crb_host *host;

/* One per manifest entry: allocated in create(), freed in destroy(). */
typedef struct instance {
  crb_self self;
  size_t team_length;
  char team[MAXIMUM_TEAM];
} instance;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* [owner] Called before the request is sent, and again for each retry. */
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)state; /* this stage has no state per call, so it needs no release() */
  const instance *me = inst;
  const crb_view team = {(const uint8_t *)me->team, me->team_length};
  if (host->header_set(call, text("X-Team"), team, CRB_HEADER_REPLACE) == CRB_OK) return CRB_CONTINUE;
  /* The host copies the error. The message says what happened and what to do next. */
  const crb_error error = {.size = sizeof error, .message = text("the host does not take the header X-Team")};
  host->set_error(call, &error);
  return CRB_FAIL;
}

/* [owner] Status and headers have arrived. `head` is valid until this hook completes. */
static crb_verdict on_head(void *inst, crb_call call, void *state, const crb_head *head) {
  (void)state;
  const instance *me = inst;
  if (!host->log_enabled(me->self, CRB_LOG_INFO)) return CRB_CONTINUE;
  char line[64];
  snprintf(line, sizeof line, "the server answered with status %u", (unsigned)head->status);
  host->log(me->self, CRB_LOG_INFO, call, text(line));
  return CRB_CONTINUE;
}

/* Hooks can read only the parts in `needs`, and change only the parts in `mutates`. */
static const crb_http_stage http = {
    .size = sizeof http, .needs = 0, .mutates = CRB_PART_HEADERS, .on_request = on_request, .on_head = on_head};

/* The value of "team" in JSON that matches the schema. An empty view if the key or the value has escapes. */
static crb_view team_of(crb_view json) {
  static const char key[] = "\"team\"";
  size_t i = 0;
  while (i + sizeof key <= json.len && memcmp(json.ptr + i, key, sizeof key - 1) != 0) i++;
  i += sizeof key - 1;
  while (i < json.len && strchr(" \t\r\n:", json.ptr[i])) i++;
  if (i >= json.len || json.ptr[i++] != '"') return (crb_view){NULL, 0};
  const size_t start = i;
  while (i < json.len && json.ptr[i] != '"' && json.ptr[i] != '\\') i++;
  if (i >= json.len || json.ptr[i] == '\\' || i - start > MAXIMUM_TEAM) return (crb_view){NULL, 0};
  return (crb_view){json.ptr + start, i - start};
}

/* [load] Errors are returned in `why`, as static text. */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h;
  const crb_view team = team_of(info->config_json);
  if (team.len == 0) {
    why->message = text("config: team is missing or spelt with escapes; write config: {team: NAME}");
    return CRB_E_INVAL;
  }
  instance *me = malloc(sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  me->team_length = team.len;
  memcpy(me->team, team.ptr, team.len);
  *inst = me;
  return CRB_OK;
}

/* [load] */
static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.example.my-plugin",
                                            .version = "1.0.0",
                                            .config_schema = schema,
                                            .http = &http,
                                            .create = create,
                                            .destroy = destroy};
static const crb_interceptor *const items[] = {&interceptor};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

/* The only symbol that a plugin exports. */
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  return &plugin;
}
