/* Counts its calls and results without a lock. */
#include <carabiner.h>
#include <stdlib.h>

typedef struct counts {
  uint64_t calls, results;
} counts;

static crb_status create(const crb_host *host, const crb_create_info *info, void **inst, crb_error *why) {
  (void)host, (void)info, (void)why;
  *inst = calloc(1, sizeof(counts));
  return *inst ? CRB_OK : CRB_E_NOMEM;
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)call, (void)state;
  counts *all = inst;
  all->calls++;
  return CRB_CONTINUE;
}
static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)call, (void)state, (void)result;
  ((counts *)inst)->results++;
  return CRB_CONTINUE;
}
#define CREATE create
#define GRAPHQL_ON_REQUEST on_request
#define GRAPHQL_ON_RESULT on_result
#include "sound.h"
