/* Works only while the first instance of the process lives. */
/* ONLY: LC05 */
#include <carabiner.h>
#include <stdlib.h>

#include "host.h"

static const void *first;
static int is_gone;
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  *inst = malloc(1);
  if (!first) first = *inst;
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static void destroy(void *inst) {
  is_gone |= inst == first;
  free(inst);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  if (!is_gone) return CRB_CONTINUE;
  const crb_error error = {.size = sizeof error, .message = text("the first instance is gone")};
  host->set_error(call, &error);
  return CRB_FAIL;
}
#define CREATE create
#define DESTROY destroy
#define GRAPHQL_ON_REQUEST on_request
#include "sound.h"
