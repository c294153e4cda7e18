#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include "test_host.h"

/* How many locks this thread holds that it acquired through watched imports. */
static _Thread_local int64_t held;

#define TAKE(name, parameters, arguments)   \
  static int take_##name parameters {       \
    int status = name arguments;            \
    held += status == 0;                    \
    return status;                          \
  }
#define GIVE(name, type)              \
  static int give_##name(type *lock) { \
    int status = name(lock);          \
    held -= status == 0;              \
    return status;                    \
  }
#define UNTIL const struct timespec *until

TAKE(pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
TAKE(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
TAKE(pthread_mutex_timedlock, (pthread_mutex_t * lock, UNTIL), (lock, until))
TAKE(pthread_mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, UNTIL), (lock, clock, until))
GIVE(pthread_mutex_unlock, pthread_mutex_t)
TAKE(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
TAKE(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TAKE(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
TAKE(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
TAKE(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, UNTIL), (lock, until))
TAKE(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, UNTIL), (lock, until))
GIVE(pthread_rwlock_unlock, pthread_rwlock_t)
TAKE(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
TAKE(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
GIVE(pthread_spin_unlock, volatile pthread_spinlock_t)
TAKE(mtx_lock, (mtx_t * lock), (lock))
TAKE(mtx_trylock, (mtx_t * lock), (lock))
TAKE(mtx_timedlock, (mtx_t * lock, UNTIL), (lock, until))
GIVE(mtx_unlock, mtx_t)
TAKE(ftrylockfile, (FILE * lock), (lock))

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
    ENTRY(give, funlockfile),
};

int CTestHost_watchLocks(const void *inside) {
  int places = 0;
  for (size_t index = 0; index < sizeof replacements / sizeof *replacements; index++) {
    places += CTestHost_replaceImport(inside, replacements[index].name, replacements[index].by, NULL);
  }
  return places;
}

int64_t CTestHost_heldLocks(void) { return held; }
