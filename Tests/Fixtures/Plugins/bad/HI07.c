/* Gives up for ever when a limit was reached once. */
#include <carabiner.h>
#include <stdatomic.h>
#include <stdlib.h>
#define HAS_HOST
static const crb_host *host;
static crb_self self;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  atomic_int *is_broken = inst;
  if (!*state) *state = malloc(1);
  crb_value value = {.type = CRB_VALUE_I64};
  crb_key key = host->key(self, (crb_view){(const uint8_t *)"org.example.count", 17});
  if (key && host->bag_set(call, key, CRB_SCOPE_CALL, &value) == CRB_E_LIMIT) atomic_store(is_broken, 1);
  return atomic_load(is_broken) ? CRB_FAIL : CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = calloc(1, sizeof(atomic_int));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
