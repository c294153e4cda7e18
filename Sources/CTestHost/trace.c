#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test_host.h"

static struct CTestHost_trace *trace;

void CTestHost_openTrace(struct CTestHost_record *record) {
  if (record) trace = &((struct CTestHost_memory *)record)->trace;
}

uint64_t CTestHost_eventCount(const struct CTestHost_record *record) {
  return ((const struct CTestHost_memory *)record)->trace.count;
}

struct CTestHost_event CTestHost_eventAt(const struct CTestHost_record *record, uint64_t n) {
  return ((const struct CTestHost_memory *)record)->trace.events[n % CTESTHOST_EVENTS];
}

int CTestHost_isTracing(void) { return trace != NULL; }

void CTestHost_event(uint32_t kind, const uint8_t *text, size_t count) {
  static __thread uint32_t thread;
  if (!trace) return;
  if (!thread) thread = (uint32_t)syscall(SYS_gettid);
  if (count > CTESTHOST_EVENT_TEXT_MAX - 1) count = CTESTHOST_EVENT_TEXT_MAX - 1;
  uint64_t number = __atomic_fetch_add(&trace->count, 1, __ATOMIC_RELAXED);
  struct CTestHost_event *event = &trace->events[number % CTESTHOST_EVENTS];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  event->thread = thread;
  event->kind = kind;
  memcpy(event->text, text, count);
  event->text[count] = 0;
}
