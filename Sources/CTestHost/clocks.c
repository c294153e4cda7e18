#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#include "test_host.h"

/* Each look at a clock is this much later than the one before. */
enum { STEP_SECONDS = 3 };
static atomic_int warps;
static _Atomic uint64_t looks;

void CTestHost_warpClocks(int is_on) { atomic_store(&warps, is_on); }

static uint64_t passed_seconds(void) {
  if (!atomic_load_explicit(&warps, memory_order_relaxed)) return atomic_load(&looks) * STEP_SECONDS;
  return (atomic_fetch_add(&looks, 1) + 1) * STEP_SECONDS;
}

uint64_t CTestHost_warpedNanoseconds(void) { return passed_seconds() * 1000000000; }

static int clock_gettime_later(clockid_t clock, struct timespec *out) {
  int status = clock_gettime(clock, out);
  if (status == 0 && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID) out->tv_sec += (time_t)passed_seconds();
  return status;
}
static int gettimeofday_later(struct timeval *out, void *zone) {
  int status = gettimeofday(out, zone);
  if (status == 0) out->tv_sec += (time_t)passed_seconds();
  return status;
}
static time_t time_later(time_t *out) {
  time_t now = time(NULL) + (time_t)passed_seconds();
  if (out) *out = now;
  return now;
}

void CTestHost_watchClocks(const void *inside) {
  CTestHost_replaceImport(inside, "clock_gettime", (void *)clock_gettime_later, NULL);
  CTestHost_replaceImport(inside, "gettimeofday", (void *)gettimeofday_later, NULL);
  CTestHost_replaceImport(inside, "time", (void *)time_later, NULL);
}
