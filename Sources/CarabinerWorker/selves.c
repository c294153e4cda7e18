/* The ids by which callers name themselves: those of libraries and instances, each with an account of its buffers.  As in
 * PluginRegistry.swift, an id is a random number that cannot be guessed, with the number of its slot in the last 16 bits. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/random.h>

#include "worker.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct member *members;
static uint32_t count;
/* The slots of ids that are gone, the longest gone first. */
static uint16_t retired[MOST_SELVES];
static uint32_t retired_first, retired_count;

_Thread_local uint32_t running_library;

void release_account(struct account *account) {
  if (account && atomic_fetch_sub(&account->references, 1) == 1) free(account);
}

static crb_self random_id(uint32_t index) {
  uint64_t secret = 0;
  while (secret >> 16 == 0) {
    if (getrandom(&secret, sizeof secret, 0) != sizeof secret) return 0;
  }
  return (secret & ~UINT64_C(0xffff)) | index;
}

/* A slot for another id; MOST_SELVES if there is none. */
static uint32_t find_slot(void) {
  if (retired_count > KEPT_SELVES || (count == MOST_SELVES && retired_count > 0)) {
    uint32_t index = retired[retired_first];
    retired_first = (retired_first + 1) % MOST_SELVES;
    retired_count--;
    release_account(members[index].account);
    return index;
  }
  if (count == MOST_SELVES) return MOST_SELVES;
  if ((count & (count - 1)) == 0) {
    struct member *larger = realloc(members, (count ? 2 * count : 1) * sizeof *members);
    if (!larger) return MOST_SELVES;
    members = larger;
  }
  return count++;
}

crb_self add_self(uint32_t library, uint32_t instance, uint32_t grants, uint64_t buffer_bytes) {
  struct account *account = malloc(sizeof *account);
  if (!account) return 0;
  if (buffer_bytes == 0 || buffer_bytes > INT64_MAX) buffer_bytes = DEFAULT_BUFFER_BYTES;
  *account = (struct account){.references = 1, .limit = (int64_t)buffer_bytes};
  pthread_rwlock_wrlock(&lock);
  uint32_t index = find_slot();
  crb_self id = index < MOST_SELVES ? random_id(index) : 0;
  if (index < MOST_SELVES) members[index] = (struct member){id, library, instance, grants, account};
  pthread_rwlock_unlock(&lock);
  if (index == MOST_SELVES) free(account);
  return id;
}

void retire_self(crb_self id) {
  pthread_rwlock_wrlock(&lock);
  uint32_t index = id & 0xffff;
  if (index < count && members[index].id == id && retired_count < MOST_SELVES) {
    members[index].grants = 0;
    retired[(retired_first + retired_count++) % MOST_SELVES] = (uint16_t)index;
  }
  pthread_rwlock_unlock(&lock);
}

int find_self(crb_self id, struct member *member) {
  pthread_rwlock_rdlock(&lock);
  uint32_t index = id & 0xffff;
  int is_known = id && index < count && members[index].id == id;
  if (is_known) *member = members[index];
  pthread_rwlock_unlock(&lock);
  /* On a plugin's own threads, code of another library cannot be distinguished from its own. */
  return is_known && (running_library == 0 || running_library == member->library);
}
