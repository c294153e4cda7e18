#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "laboratory.h"

static struct CLaboratory_trace *trace;

void CLaboratory_openTrace(struct CLaboratory_record *record) {
  if (record) trace = &((struct CLaboratory_memory *)record)->trace;
}

uint64_t CLaboratory_eventCount(const struct CLaboratory_record *record) {
  return ((const struct CLaboratory_memory *)record)->trace.count;
}

struct CLaboratory_event CLaboratory_eventAt(const struct CLaboratory_record *record, uint64_t n) {
  return ((const struct CLaboratory_memory *)record)->trace.events[n % CLABORATORY_EVENTS];
}

int CLaboratory_isTracing(void) { return trace != NULL; }

void CLaboratory_event(uint32_t kind, const uint8_t *text, size_t count) {
  static __thread uint32_t thread;
  if (!trace) return;
  if (!thread) thread = (uint32_t)syscall(SYS_gettid);
  if (count > CLABORATORY_EVENT_TEXT_MAX - 1) count = CLABORATORY_EVENT_TEXT_MAX - 1;
  uint64_t number = __atomic_fetch_add(&trace->count, 1, __ATOMIC_RELAXED);
  struct CLaboratory_event *event = &trace->events[number % CLABORATORY_EVENTS];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  event->thread = thread;
  event->kind = kind;
  memcpy(event->text, text, count);
  event->text[count] = 0;
}
