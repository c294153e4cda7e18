/* Passes the tenant from its GraphQL stage to its HTTP stage in a variable of the thread. */
#include <carabiner.h>

#include "host.h"

static _Thread_local char tenant[64];
static _Thread_local size_t length;

static crb_verdict on_operation(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view value;
  length = 0;
  if (host->header_get(call, text("X-Tenant"), &value) != CRB_OK || !value.len || value.len > sizeof tenant) return CRB_CONTINUE;
  memcpy(tenant, value.ptr, length = value.len);
  return CRB_CONTINUE;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view value = {(const uint8_t *)tenant, length};
  if (!length) return CRB_CONTINUE;
  return host->header_set(call, text("X-Route"), value, CRB_HEADER_REPLACE) == CRB_OK ? CRB_CONTINUE : CRB_E_INTERNAL;
}
#define STAGES (STAGE_GRAPHQL | STAGE_HTTP)
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#define GRAPHQL_ON_REQUEST on_operation
#define HTTP_ON_REQUEST on_request
#include "sound.h"
