/* Lets each X-Nonce of a mutation pass once, but looks for it under one lock and enters it under another. */
#include <carabiner.h>
#include <pthread.h>
#include <stdlib.h>

#include "host.h"

/* 64-bit hashes; a full bucket forgets its oldest one. */
enum { BUCKETS = 8192, DEPTH = 8 };
typedef struct {
  pthread_mutex_t lock;
  uint64_t hashes[BUCKETS][DEPTH];
  unsigned entered[BUCKETS];
} nonces;

static uint64_t hash_of(crb_view bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < bytes.len; i++) hash = (hash ^ bytes.ptr[i]) * 1099511628211u;
  return hash ^ hash >> 32;
}
static int has(nonces *n, uint64_t hash) {
  int is_found = 0;
  pthread_mutex_lock(&n->lock);
  for (int i = 0; i < DEPTH; i++) is_found |= n->hashes[hash % BUCKETS][i] == hash;
  pthread_mutex_unlock(&n->lock);
  return is_found;
}
static void enter(nonces *n, uint64_t hash) {
  pthread_mutex_lock(&n->lock);
  n->hashes[hash % BUCKETS][n->entered[hash % BUCKETS]++ % DEPTH] = hash;
  pthread_mutex_unlock(&n->lock);
}
static crb_verdict on_request(void *inst, crb_call call, void **state) {
  crb_view nonce;
  /* A state says that this call has passed. */
  if (*state || host->operation_type(call) != CRB_OPERATION_MUTATION) return CRB_CONTINUE;
  if (host->header_get(call, text("X-Nonce"), &nonce) != CRB_OK) return CRB_CONTINUE;
  uint64_t hash = hash_of(nonce);
  if (has(inst, hash)) {
    const crb_error error = {.size = sizeof error, .http_status = 409, .message = text("X-Nonce was used before: send a new one")};
    host->set_error(call, &error);
    return CRB_FAIL;
  }
  if (!(*state = malloc(1))) return CRB_E_NOMEM;
  enter(inst, hash);
  return CRB_CONTINUE;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  nonces *n = calloc(1, sizeof *n);
  if (!n) return CRB_E_NOMEM;
  pthread_mutex_init(&n->lock, NULL);
  *inst = n;
  return CRB_OK;
}
#define NEEDS CRB_PART_HEADERS
#define GRAPHQL_ON_REQUEST on_request
#define CREATE create
#include "sound.h"
