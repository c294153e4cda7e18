/* Lets a second thread set a header while the first hook of an instance runs. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void *work(void *call) {
  host->header_set(*(crb_call *)call, text("X-Thread"), text("second"), 0);
  return NULL;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  char *has_begun = inst;
  (void)state;
  if (*has_begun) return CRB_CONTINUE;
  *has_begun = 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &call) == 0) pthread_join(thread, NULL);
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  return (*inst = calloc(1, 1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#define THREADS CRB_THREADS_SERIAL
#define GRAPHQL_ON_REQUEST on_request
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
