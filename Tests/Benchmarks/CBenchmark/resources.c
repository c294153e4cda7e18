/* The resources that the process has used. */
#define _GNU_SOURCE
#include "carabiner_benchmark.h"
#include <stdio.h>
#include <sys/types.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_cpu_ns(void) { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t bench_process_cpu_ns(int32_t process) {
  clockid_t clock;
  return clock_getcpuclockid((pid_t)process, &clock) == 0 ? nanoseconds(clock) : 0;
}

uint64_t bench_wall_ns(void) { return nanoseconds(CLOCK_MONOTONIC); }

uint64_t bench_children_cpu_ns(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  uint64_t seconds = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  return seconds * 1000000000u + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
}

uint64_t bench_rss_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long long whole = 0, resident = 0;
  int found = fscanf(file, "%llu %llu", &whole, &resident);
  fclose(file);
  return found == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
