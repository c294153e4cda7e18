/* Fetches and operations on the store that are under way.  The worker numbers them, and the host answers with the number. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "requests.h"

enum { BUCKETS = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *buckets[BUCKETS];
static uint64_t numbers;
static uint32_t count;

struct request *add_request(crb_self who, uint32_t library, uint32_t most, void (*done)(void), void *user) {
  struct request *request = malloc(sizeof *request);
  if (!request) return NULL;
  uint32_t same = 0;
  pthread_mutex_lock(&lock);
  int has_room = count < MOST_REQUESTS;
  if (has_room && most < UINT32_MAX) {
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
      for (struct request *other = buckets[bucket]; other; other = other->next) same += other->who == who && other->is_counted;
    }
    has_room = same < most;
  }
  if (has_room) {
    struct request **bucket = &buckets[++numbers % BUCKETS];
    *request = (struct request){*bucket, numbers, who, library, most < UINT32_MAX, done, user};
    *bucket = request;
    count++;
  }
  pthread_mutex_unlock(&lock);
  if (has_room) return request;
  free(request);
  return NULL;
}

int take_request(uint64_t number, struct request *taken) {
  pthread_mutex_lock(&lock);
  struct request **place = &buckets[number % BUCKETS], *found;
  while (*place && (*place)->number != number) place = &(*place)->next;
  found = *place;
  if (found) {
    *place = found->next;
    count--;
  }
  pthread_mutex_unlock(&lock);
  if (!found) return 0;
  *taken = *found;
  free(found);
  return 1;
}

int read_error(struct reader message, crb_error *error) {
  crb_view name, value;
  const struct CCrossing_record *record = find_record(message, CCROSSING_ERROR_SET, &name, &value);
  if (!record) return 0;
  *error = (crb_error){.size = sizeof *error, .code = (int32_t)record->a, .flags = record->b, .retry_after_ns = record->number};
  error->domain = name;
  error->message = value;
  record = find_record(message, CCROSSING_ERROR_MORE, &name, &value);
  if (!record) return 1;
  error->http_status = (int32_t)record->a;
  error->origin = name;
  error->detail_json = value;
  return 1;
}
