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

/* Looked up each time: this path is slow already, and a cache would need its own synchronization. */
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
  ((SWIFT void (*)(uint32_t, SELF void *))real(LOCK))(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
SWIFT bool tryLockSlow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT bool tryLockSlow(SELF void *mutex) {
  bool isLocked = ((SWIFT bool (*)(SELF void *))real(TRY_LOCK))(mutex);
  if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
  return isLocked;
}

#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
SWIFT void unlockSlow(SELF void *mutex) __asm__(UNLOCK);
SWIFT void unlockSlow(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  ((SWIFT void (*)(SELF void *))real(UNLOCK))(mutex);
}
