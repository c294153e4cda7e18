/* Reports the synchronization of Swift's contended Mutex to the thread sanitizer.
 *
 * The slow paths of Synchronization.Mutex are in a library of the toolchain that is not instrumented: one thread hands the
 * mutex to another by an atomic or by the kernel, and the sanitizer sees neither. It then reports two bodies of withLock on one
 * mutex as a race. Preloaded, this library intercepts exactly these functions and adds the missing edge; the real
 * functions do the work. Nothing else is changed, so every other race is still reported. Without the sanitizer it does nothing.
 *
 * Built and preloaded by Scripts/test. See the decision record 4.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static SWIFT void (*real_lock)(uint32_t, SELF void *);
static SWIFT bool (*real_try_lock)(SELF void *);
static SWIFT void (*real_unlock)(SELF void *);

/* Looked up before there are threads: dlsym waits for the lock of the loader, whose holder may wait for the mutex. */
__attribute__((constructor)) static void look_up(void) {
  real_lock = (SWIFT void (*)(uint32_t, SELF void *))dlsym(RTLD_NEXT, LOCK);
  real_try_lock = (SWIFT bool (*)(SELF void *))dlsym(RTLD_NEXT, TRY_LOCK);
  real_unlock = (SWIFT void (*)(SELF void *))dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
  real_lock(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLockSlow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT bool tryLockSlow(SELF void *mutex) {
  bool isLocked = real_try_lock(mutex);
  if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
  return isLocked;
}

SWIFT void unlockSlow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void unlockSlow(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  real_unlock(mutex);
}
