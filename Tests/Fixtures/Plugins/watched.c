/* A plugin whose worker is watched.  In on_request it does what its configuration names: {"do": ["log", "print", "socket", "crash"]} */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.test.watched\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static const crb_host *host;

typedef struct instance {
  crb_self self;
  char config[256];
} instance;

static int does(const instance *i, const char *word) { return strstr(i->config, word) != NULL; }

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  const instance *i = inst;
  static const char line[] = "about to work";
  *state = inst;
  if (does(i, "\"print\"")) fputs("printed by the plugin\n", stderr);
  if (does(i, "\"socket\"")) socket(AF_UNIX, SOCK_STREAM, 0);
  if (does(i, "\"log\"")) host->log(i->self, CRB_LOG_WARN, call, (crb_view){(const uint8_t *)line, sizeof line - 1});
  if (does(i, "\"crash\"")) *(volatile int *)16 = 1;
  return CRB_CONTINUE;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .on_request = on_request};

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)why;
  instance *i = calloc(1, sizeof *i);
  if (!i) return CRB_E_NOMEM;
  i->self = info->self;
  memcpy(i->config, info->config_json.ptr, info->config_json.len < sizeof i->config ? info->config_json.len : sizeof i->config - 1);
  *inst = i;
  return CRB_OK;
}

static void destroy(void *inst) { free(inst); }

static const crb_interceptor interceptor = {.size = sizeof interceptor,
                                            .thread_class = CRB_THREADS_CONCURRENT,
                                            .id = "org.carabiner.test.watched",
                                            .version = "1.0.0",
                                            .config_schema = "{\"type\":\"object\"}",
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
