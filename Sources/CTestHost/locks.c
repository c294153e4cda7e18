#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "test_host.h"

/* How many locks this thread holds that it acquired through watched imports. */
static _Thread_local int64_t held;

/* The locks that this thread holds, in their order, and the pairs in which a second lock was taken while one was held. */
#define HELD_MAX 16
#define PAIRS_MAX 4096
static _Thread_local const volatile void *own[HELD_MAX];
static _Thread_local size_t own_count;
static struct pair {
  const volatile void *first, *second;
} pairs[PAIRS_MAX];
static size_t pair_count;
static uint64_t inversions;
static pthread_mutex_t pairs_lock = PTHREAD_MUTEX_INITIALIZER;

static int has_pair(const volatile void *first, const volatile void *second) {
  for (size_t index = 0; index < pair_count; index++) {
    if (pairs[index].first == first && pairs[index].second == second) return 1;
  }
  return 0;
}
/* A lock that was tried and not awaited cannot be part of a deadlock, but others may be taken while it is held. */
static int took(int status, const volatile void *lock, int has_waited) {
  if (status != 0) return status;
  held++;
  pthread_mutex_lock(&pairs_lock);
  for (size_t index = 0; has_waited && index < own_count; index++) {
    if (own[index] == lock || has_pair(own[index], lock)) continue;
    inversions += (uint64_t)has_pair(lock, own[index]);
    if (pair_count < PAIRS_MAX) pairs[pair_count++] = (struct pair){own[index], lock};
  }
  pthread_mutex_unlock(&pairs_lock);
  if (own_count < HELD_MAX) own[own_count++] = lock;
  return status;
}
static int gave(int status, const volatile void *lock) {
  if (status != 0) return status;
  held--;
  for (size_t index = own_count; index-- > 0;) {
    if (own[index] != lock) continue;
    for (; index + 1 < own_count; index++) own[index] = own[index + 1];
    own_count--;
    break;
  }
  return status;
}
/* The address of a destroyed lock may be that of another lock later. */
static void forget(const void *lock) {
  pthread_mutex_lock(&pairs_lock);
  for (size_t index = 0; index < pair_count;) {
    if (pairs[index].first == lock || pairs[index].second == lock) pairs[index] = pairs[--pair_count];
    else index++;
  }
  pthread_mutex_unlock(&pairs_lock);
}
static int destroy_mutex(pthread_mutex_t *lock) {
  forget(lock);
  return pthread_mutex_destroy(lock);
}

/* Two threads at the same place wait for each other for some microseconds, and continue at the same moment, so that their writes
 * collide. */
enum { ALIGN_SPINS = 20000 };
static atomic_int aligns;
static _Atomic uintptr_t waiting;

void CTestHost_alignThreads(int is_on) { atomic_store(&aligns, is_on); }

void CTestHost_align(uintptr_t place) {
  if (!atomic_load_explicit(&aligns, memory_order_relaxed)) return;
  uintptr_t expected = place;
  if (atomic_compare_exchange_strong(&waiting, &expected, 0)) return;
  expected = 0;
  if (!atomic_compare_exchange_strong(&waiting, &expected, place)) return;
  for (int spin = 0; spin < ALIGN_SPINS && atomic_load_explicit(&waiting, memory_order_relaxed) == place; spin++) {
    atomic_signal_fence(memory_order_seq_cst);
  }
  expected = place;
  if (atomic_compare_exchange_strong(&waiting, &expected, 0)) sched_yield();
}

uint64_t CTestHost_lockInversions(void) {
  pthread_mutex_lock(&pairs_lock);
  uint64_t count = inversions;
  pthread_mutex_unlock(&pairs_lock);
  return count;
}

#define TAKE(name, parameters, arguments) \
  static int take_##name parameters { return took(name arguments, lock, 1); }
#define TRY(name, parameters, arguments) \
  static int take_##name parameters { return took(name arguments, lock, 0); }
/* Another thread may come between two locked sections. */
static int gave_way(int status, const volatile void *lock) {
  status = gave(status, lock);
  if (atomic_load_explicit(&aligns, memory_order_relaxed)) sched_yield();
  return status;
}
#define GIVE(name, type) \
  static int give_##name(type *lock) { return gave_way(name(lock), lock); }
#define UNTIL const struct timespec *until

TAKE(pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
TRY(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
TAKE(pthread_mutex_timedlock, (pthread_mutex_t * lock, UNTIL), (lock, until))
TAKE(pthread_mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, UNTIL), (lock, clock, until))
GIVE(pthread_mutex_unlock, pthread_mutex_t)
static int take_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  int status = pthread_rwlock_rdlock(lock);
  if (status == 0) CTestHost_align((uintptr_t)lock);
  return took(status, lock, 1);
}
TAKE(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TRY(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
TRY(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
TAKE(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, UNTIL), (lock, until))
TAKE(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, UNTIL), (lock, until))
GIVE(pthread_rwlock_unlock, pthread_rwlock_t)
TAKE(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
TRY(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
GIVE(pthread_spin_unlock, volatile pthread_spinlock_t)
TAKE(mtx_lock, (mtx_t * lock), (lock))
TRY(mtx_trylock, (mtx_t * lock), (lock))
TAKE(mtx_timedlock, (mtx_t * lock, UNTIL), (lock, until))
GIVE(mtx_unlock, mtx_t)
TRY(ftrylockfile, (FILE * lock), (lock))

static void take_flockfile(FILE *lock) {
  flockfile(lock);
  held++;
}
static void give_funlockfile(FILE *lock) {
  funlockfile(lock);
  held--;
}

#define ENTRY(kind, name) {#name, (void *)kind##_##name}
static const struct {
  const char *name;
  void *by;
} replacements[] = {
    ENTRY(take, pthread_mutex_lock),        ENTRY(take, pthread_mutex_trylock),      ENTRY(take, pthread_mutex_timedlock),
    ENTRY(take, pthread_mutex_clocklock),   ENTRY(give, pthread_mutex_unlock),       ENTRY(take, pthread_rwlock_rdlock),
    ENTRY(take, pthread_rwlock_wrlock),     ENTRY(take, pthread_rwlock_tryrdlock),   ENTRY(take, pthread_rwlock_trywrlock),
    ENTRY(take, pthread_rwlock_timedrdlock), ENTRY(take, pthread_rwlock_timedwrlock), ENTRY(give, pthread_rwlock_unlock),
    ENTRY(take, pthread_spin_lock),         ENTRY(take, pthread_spin_trylock),       ENTRY(give, pthread_spin_unlock),
    ENTRY(take, mtx_lock),                  ENTRY(take, mtx_trylock),                ENTRY(take, mtx_timedlock),
    ENTRY(give, mtx_unlock),                ENTRY(take, flockfile),                  ENTRY(take, ftrylockfile),
    ENTRY(give, funlockfile),               {"pthread_mutex_destroy", (void *)destroy_mutex},
};

int CTestHost_watchLocks(const void *inside) {
  int places = 0;
  for (size_t index = 0; index < sizeof replacements / sizeof *replacements; index++) {
    places += CTestHost_replaceImport(inside, replacements[index].name, replacements[index].by, NULL);
  }
  return places;
}

int64_t CTestHost_heldLocks(void) { return held; }
