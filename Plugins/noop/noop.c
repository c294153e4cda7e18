/* The cheapest possible plugin: it passes everything on. A chain of these measures the cost of the host itself. */
#include <carabiner.h>
#include <stddef.h>

CRB_DECLARE_NOTE("{\"id\":\"org.carabiner.noop\",\"version\":\"1.0.0\",\"abi\":[1,0]}");

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call, (void)state;
  return CRB_CONTINUE;
}

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state, (void)result;
  return CRB_CONTINUE;
}

static crb_status create(const crb_host *host, const crb_create_info *info, void **inst, crb_error *why) {
  (void)host, (void)info, (void)why;
  *inst = NULL;
  return CRB_OK;
}

static const crb_graphql_stage graphql = {.size = sizeof graphql, .on_request = on_request, .on_result = on_result};

static const crb_interceptor noop = {.size = sizeof noop,
                                     .thread_class = CRB_THREADS_CONCURRENT,
                                     .id = "org.carabiner.noop",
                                     .version = "1.0.0",
                                     .name = "No operation",
                                     .graphql = &graphql,
                                     .create = create};
static const crb_interceptor *const items[] = {&noop};
static const crb_plugin plugin = {
    .size = sizeof plugin, .abi_major = CRB_ABI_MAJOR, .abi_minor_built = CRB_ABI_MINOR, .count = 1, .items = items};

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *host) {
  (void)host;
  return &plugin;
}
