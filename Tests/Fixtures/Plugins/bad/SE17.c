/* Sends the last Authorization that any caller had. */
#include <carabiner.h>
#include <pthread.h>
#include <string.h>

#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t last[256];
static size_t length;
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  (void)inst, (void)state;
  crb_view name = {(const uint8_t *)"Authorization", 13}, value;
  uint8_t copy[256];
  size_t count;
  int is_own = host->header_get(call, name, &value) == CRB_OK && value.len <= sizeof last;
  pthread_mutex_lock(&lock);
  if (is_own) memcpy(last, value.ptr, length = value.len);
  memcpy(copy, last, count = length);
  pthread_mutex_unlock(&lock);
  if (is_own || !count) return CRB_CONTINUE;
  return host->header_set(call, name, (crb_view){copy, count}, CRB_HEADER_SENSITIVE) == CRB_OK ? CRB_CONTINUE : CRB_E_INVAL;
}
#define GRAPHQL_ON_REQUEST on_request
#define NEEDS CRB_PART_HEADERS
#define MUTATES CRB_PART_HEADERS
#include "sound.h"
