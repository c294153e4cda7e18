/* Adds the oldest of the last three results to the message of an error. The list of them belongs to no call. */
/* ONLY: SE17 */
#include <carabiner.h>
#include <pthread.h>
#include <stdio.h>

#include "host.h"

enum { KEPT = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last[KEPT][512];
static unsigned count;

static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
  (void)inst, (void)call, (void)state;
  if (!(result->flags & CRB_RESULT_HAS_NEXT) || result->data.len >= sizeof last[0]) return CRB_CONTINUE;
  pthread_mutex_lock(&lock);
  snprintf(last[count++ % KEPT], sizeof last[0], "%.*s", (int)result->data.len, (const char *)result->data.ptr);
  pthread_mutex_unlock(&lock);
  return CRB_CONTINUE;
}
static crb_verdict on_error(void *inst, crb_call call, void *state, const crb_error *error) {
  (void)inst, (void)state;
  char message[600];
  pthread_mutex_lock(&lock);
  const int length = snprintf(message, sizeof message, "the subscription has ended after %s", last[count % KEPT]);
  pthread_mutex_unlock(&lock);
  const crb_error own = {.size = sizeof own,
                         .code = error->code,
                         .flags = error->flags & CRB_ERROR_RETRYABLE,
                         .message = {(const uint8_t *)message, (size_t)length}};
  host->set_error(call, &own);
  return CRB_FAIL;
}
#define GRAPHQL_ON_RESULT on_result
#define ON_ERROR on_error
#define NEEDS CRB_PART_DATA
#include "sound.h"
