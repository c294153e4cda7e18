/* Lets a second thread set a header while the hook runs. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const crb_host *host;
static crb_self self;
#define HAS_HOST
static crb_view text(const char *s) {
  crb_view v = {(const uint8_t *)s, strlen(s)};
  return v;
}
static void *work(void *call) {
  host->header_set(*(crb_call *)call, text("X-Thread"), text("second"), 0);
  return NULL;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)call;
  if (!*state) *state = malloc(1);
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &call) == 0) pthread_join(thread, NULL);
  return CRB_CONTINUE;
}
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
