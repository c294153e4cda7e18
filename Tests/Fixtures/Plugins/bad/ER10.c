/* Asks the store without a done() function. */
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  const crb_store_service *store = host->query(self, "crb.store/1");
  crb_view key = text("Book:1");
  if (store) store->load(self, &key, 1, NULL, NULL);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
