/* Functions of the host: counted buffers, by handle, as in BufferTable.swift. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "worker.h"

/* Bytes that live as long as there is a reference to them. */
struct storage {
  uint32_t slots; /* under the lock */
  uint8_t *bytes;
  int64_t charge;
  struct account *account;
  void (*drop)(void *user);
  void *user;
  int is_adopted;
};

struct slot {
  uint32_t generation, references;
  uint32_t next_free; /* + 1 */
  struct storage *storage;
  size_t offset, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots;
static uint32_t count, capacity, first_free;

static int take(struct account *account, int64_t bytes) {
  if (atomic_fetch_add_explicit(&account->used, bytes, memory_order_relaxed) + bytes <= account->limit) return 1;
  atomic_fetch_sub_explicit(&account->used, bytes, memory_order_relaxed);
  return 0;
}

static void give(struct account *account, int64_t bytes) { atomic_fetch_sub_explicit(&account->used, bytes, memory_order_relaxed); }

/* Under the lock. */
static struct slot *find(crb_buf buf) {
  uint32_t index = (uint32_t)(buf >> 32) - 1;
  if (index >= count || !slots[index].storage || slots[index].generation != (uint32_t)buf) return NULL;
  return &slots[index];
}

/* Under the lock.  Returns NULL if there are too many. */
static struct slot *find_free(void) {
  if (first_free) {
    struct slot *slot = &slots[first_free - 1];
    first_free = slot->next_free;
    return slot;
  }
  if (count == capacity) {
    uint32_t more = capacity ? 2 * capacity : 64;
    struct slot *larger = capacity < MOST_BUFFERS ? realloc(slots, more * sizeof *slots) : NULL;
    if (!larger) return NULL;
    slots = larger;
    capacity = more;
  }
  slots[count] = (struct slot){0};
  return &slots[count++];
}

/* Returns 0 if there is no room for another handle. */
static crb_buf insert(struct storage *storage, size_t offset, size_t length) {
  if (!take(storage->account, BUFFER_CHARGE)) return 0;
  crb_buf buf = 0;
  pthread_mutex_lock(&lock);
  struct slot *slot = find_free();
  if (slot) {
    slot->references = 1;
    slot->storage = storage;
    slot->offset = offset;
    slot->count = length;
    storage->slots++;
    buf = (uint64_t)(slot - slots + 1) << 32 | slot->generation;
  }
  pthread_mutex_unlock(&lock);
  if (!buf) give(storage->account, BUFFER_CHARGE);
  return buf;
}

static void dispose(struct storage *storage) {
  give(storage->account, storage->charge);
  if (!storage->is_adopted) free(storage->bytes);
  else if (storage->drop) storage->drop(storage->user);
  release_account(storage->account);
  free(storage);
}

/* Takes over a reference of the account. */
static struct storage *make_storage(struct account *account, uint8_t *bytes, int64_t charge) {
  struct storage *storage = malloc(sizeof *storage);
  if (storage) *storage = (struct storage){.bytes = bytes, .charge = charge, .account = account};
  return storage;
}

static struct account *account_of(crb_self who) {
  struct member member;
  if (!find_self(who, &member)) return NULL;
  atomic_fetch_add(&member.account->references, 1);
  return member.account;
}

crb_buf buf_alloc(crb_self who, size_t n, uint8_t **writable) {
  struct account *account = writable && n <= MOST_BUFFER_BYTES ? account_of(who) : NULL;
  if (!account) return 0;
  struct storage *storage = NULL;
  uint8_t *bytes = NULL;
  crb_buf buf = 0;
  if (!take(account, (int64_t)n)) {
    release_account(account);
    return 0;
  }
  bytes = malloc(n ? n : 1);
  storage = bytes ? make_storage(account, bytes, (int64_t)n) : NULL;
  if (storage) buf = insert(storage, 0, n);
  if (buf) {
    *writable = bytes;
    return buf;
  }
  give(account, (int64_t)n);
  release_account(account);
  free(bytes);
  free(storage);
  return 0;
}

crb_buf buf_adopt(crb_self who, const void *bytes, size_t n, void (*drop)(void *user), void *user) {
  struct account *account = n <= SIZE_MAX / 2 ? account_of(who) : NULL;
  if (!account) return 0;
  struct storage *storage = make_storage(account, (uint8_t *)(uintptr_t)bytes, 0);
  if (storage) {
    storage->is_adopted = 1;
    storage->drop = drop;
    storage->user = user;
  }
  crb_buf buf = storage ? insert(storage, 0, bytes ? n : 0) : 0;
  if (buf) return buf;
  release_account(account);
  free(storage);
  return 0;
}

crb_buf buf_slice(crb_buf buf, size_t offset, size_t n) {
  /* Under the lock a slot counts for the storage, which no other thread then frees. */
  pthread_mutex_lock(&lock);
  struct slot *from = find(buf), *slot = NULL;
  crb_buf made = 0;
  if (from && offset <= from->count && n <= from->count - offset && take(from->storage->account, BUFFER_CHARGE)) {
    struct storage *storage = from->storage;
    size_t start = from->offset + offset;
    slot = find_free();
    if (slot) {
      uint32_t generation = slot->generation;
      *slot = (struct slot){.generation = generation, .references = 1, .storage = storage, .offset = start, .count = n};
      storage->slots++;
      made = (uint64_t)(slot - slots + 1) << 32 | generation;
    } else {
      give(storage->account, BUFFER_CHARGE);
    }
  }
  pthread_mutex_unlock(&lock);
  return made;
}

crb_status buf_retain(crb_buf buf) {
  pthread_mutex_lock(&lock);
  struct slot *slot = find(buf);
  if (slot) slot->references++;
  pthread_mutex_unlock(&lock);
  return slot ? CRB_OK : CRB_E_STALE;
}

crb_status buf_release(crb_buf buf) {
  struct storage *freed = NULL;
  pthread_mutex_lock(&lock);
  struct slot *slot = find(buf);
  if (slot && --slot->references == 0) {
    struct storage *storage = slot->storage;
    slot->storage = NULL;
    slot->generation++;
    slot->next_free = first_free;
    first_free = (uint32_t)(slot - slots) + 1;
    give(storage->account, BUFFER_CHARGE);
    if (--storage->slots == 0) freed = storage;
  }
  pthread_mutex_unlock(&lock);
  /* Outside the lock: drop() is the plugin's. */
  if (freed) dispose(freed);
  return slot ? CRB_OK : CRB_E_STALE;
}

int take_buffer(crb_buf buf, crb_view *bytes) {
  pthread_mutex_lock(&lock);
  struct slot *slot = find(buf);
  if (slot) *bytes = (crb_view){slot->storage->bytes ? slot->storage->bytes + slot->offset : NULL, slot->count};
  pthread_mutex_unlock(&lock);
  return slot != NULL;
}

crb_view buf_view(crb_buf buf) {
  crb_view bytes = {NULL, 0};
  take_buffer(buf, &bytes);
  return bytes;
}
