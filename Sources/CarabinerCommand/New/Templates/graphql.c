/* my-plugin sends the operation's name in the header X-Operation-Name, and logs the number of results of each operation.
 *
 * A stage never calls the next one. The host calls a hook, and the hook returns a verdict. carabiner.h describes which
 * parts and verdicts each hook has. All code of this file runs on the host's threads, hooks of different calls at the same time
 * (CRB_THREADS_CONCURRENT below), so an instance is read-only, and mutable data belongs to one call. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plugin's identity, which the host reads without running code. It must match the table at the end. */
CRB_DECLARE_NOTE("{\"id\":\"org.example.my-plugin\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

/* One per manifest entry: allocated in create(), freed in destroy(). */
typedef struct instance {
  crb_self self;
} instance;

/* One per call: allocated in its first hook, freed in release(). */
typedef struct tally {
  unsigned results;
  unsigned with_errors;
} tally;

static crb_view text(const char *s) { return (crb_view){(const uint8_t *)s, strlen(s)}; }

/* The host copies the error. The message says what happened and what to do next. */
static crb_verdict fail(crb_call call, const char *message) {
  const crb_error error = {.size = sizeof error, .message = text(message)};
  host->set_error(call, &error);
  return CRB_FAIL;
}

/* Names come from clients, and not every text is a valid header value. */
static int is_name(crb_view v) {
  static const char letters[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t i = 0; i < v.len; i++) {
    if (!memchr(letters, v.ptr[i], sizeof letters - 1)) return 0;
  }
  return 1;
}

/* [owner] Called before a request is sent, and again for each retry. A retry has the state of the previous attempt. */
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst;
  if (!*state) *state = malloc(sizeof(tally));
  if (!*state) return fail(call, "there is no memory left for a call");
  *(tally *)*state = (tally){0, 0};

  crb_view name; /* borrowed: valid until this hook completes */
  crb_status status = host->field_get(call, CRB_PART_OPERATION_NAME, &name);
  if (status == CRB_E_NOTFOUND) return CRB_CONTINUE; /* an anonymous operation */
  if (status != CRB_OK) return fail(call, "the host does not show the operation's name");
  if (!is_name(name)) return CRB_CONTINUE;
  status = host->header_set(call, text("X-Operation-Name"), name, CRB_HEADER_REPLACE);
  return status == CRB_OK ? CRB_CONTINUE : fail(call, "the host does not take the header X-Operation-Name");
}

/* [owner] Called for each result: one for a query, any number for a subscription. */
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call;
  tally *t = state;
  t->results++;
  if (result->errors.ptr) t->with_errors++;
  return CRB_CONTINUE;
}

/* [owner] Nothing more will come. */
static crb_verdict on_end(void *inst, crb_call call, void *state) {
  const instance *me = inst;
  const tally *t = state;
  if (!host->log_enabled(me->self, CRB_LOG_INFO)) return CRB_CONTINUE;
  char line[64];
  snprintf(line, sizeof line, "%u results, %u with errors", t->results, t->with_errors);
  host->log(me->self, CRB_LOG_INFO, call, text(line));
  return CRB_CONTINUE;
}

/* [owner] The last hook of a call, whatever its outcome. */
static void release(void *inst, void *state) {
  (void)inst;
  free(state);
}

/* Hooks can read only the parts in `needs`, and change only the parts in `mutates`. */
static const crb_graphql_stage graphql = {.size = sizeof graphql,
                                          .needs = CRB_PART_OPERATION_NAME | CRB_PART_ERRORS,
                                          .mutates = CRB_PART_HEADERS,
                                          .on_request = on_request,
                                          .on_result = on_result,
                                          .on_end = on_end,
                                          .release = release};

/* [load] */
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *me = malloc(sizeof *me);
  if (!me) return CRB_E_NOMEM;
  me->self = info->self;
  *inst = me;
  return CRB_OK;
}

/* [load] */
static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.example.my-plugin",
                                            .version = "1.0.0",
                                            .graphql = &graphql,
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
