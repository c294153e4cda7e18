#define _GNU_SOURCE
#include "writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The thread looks for lines at this interval, so that hooks need no system call to wake it. Without lines for IDLE_AFTER rounds it
 * sleeps until it is woken. */
enum { ROUND_NANOSECONDS = 25000000, IDLE_AFTER = 100, REPORT_SECONDS = 10 };

typedef struct queue {
  char *bytes;
  size_t length;
} queue;

struct writer {
  const crb_host *host;
  crb_self self;
  sink target;
  size_t limit; /* of each queue */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  /* With the mutex. */
  queue filling, writing;
  uint64_t dropped;
  int runs, sleeps, ends;
  /* Of the thread. */
  uint64_t unreported;
  time_t last_report;
};

void format_time(char out[32]) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  /* gmtime_r() may read files. This is the civil calendar from the days since 1970. */
  int64_t days = now.tv_sec / 86400, seconds = now.tv_sec % 86400;
  if (seconds < 0) seconds += 86400, days--;
  int64_t shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097, day = shifted - era * 146097;
  int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365, rest = day - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * rest + 2) / 153;
  snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)((year + era * 400 + (month >= 10)) % 10000),
           (int)(month < 10 ? month + 3 : month - 9) % 100, (int)(rest - (153 * month + 2) / 5 + 1) % 100, (int)(seconds / 3600) % 100,
           (int)(seconds / 60 % 60), (int)(seconds % 60), (int)(now.tv_nsec / 1000000) % 1000);
}

static void report(writer *w, uint64_t lost, int error) {
  w->unreported += lost;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!w->unreported || (w->last_report && now.tv_sec - w->last_report < REPORT_SECONDS)) return;
  char line[256], reason[128] = "the queue was full";
  if (error) {
    char buffer[96];
    snprintf(reason, sizeof reason, "%s", strerror_r(error, buffer, sizeof buffer));
  }
  int n = snprintf(line, sizeof line, "%llu audit lines were lost: %s; make room at %.64s, or a larger queue-bytes",
                   (unsigned long long)w->unreported, reason, w->target.path);
  if (n > 0) w->host->log(w->self, CRB_LOG_ERROR, 0, (crb_view){(const uint8_t *)line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1});
  w->unreported = 0;
  w->last_report = now.tv_sec;
}

/* Writes what was filled. Called and returns with the mutex. */
static void write_round(writer *w) {
  queue filled = w->filling;
  w->filling = w->writing;
  w->writing = filled;
  uint64_t dropped = w->dropped;
  w->dropped = 0;
  pthread_mutex_unlock(&w->mutex);
  int error = 0;
  uint64_t lost = filled.length ? sink_write(&w->target, filled.bytes, filled.length, &error) : 0;
  if (dropped + lost) {
    char now[32], line[128];
    format_time(now);
    int n = snprintf(line, sizeof line, "{\"time\":\"%s\",\"event\":\"lost\",\"lines\":%llu}\n", now, (unsigned long long)(dropped + lost));
    int ignored = 0;
    if (n > 0) sink_write(&w->target, line, (size_t)n, &ignored);
  }
  report(w, dropped + lost, error);
  pthread_mutex_lock(&w->mutex);
  w->writing.length = 0;
}

static void *run(void *argument) {
  writer *w = argument;
  unsigned quiet = 0;
  pthread_setname_np(pthread_self(), "audit-log");
  pthread_mutex_lock(&w->mutex);
  w->runs = 1;
  pthread_cond_signal(&w->wake);
  for (;;) {
    if (w->filling.length || w->dropped) {
      write_round(w);
      quiet = 0;
    }
    if (w->filling.length || w->dropped) continue;
    if (w->ends) break;
    if (++quiet > IDLE_AFTER) {
      w->sleeps = 1;
      pthread_cond_wait(&w->wake, &w->mutex);
      w->sleeps = 0;
      quiet = 0;
      continue;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ROUND_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&w->wake, &w->mutex, &until);
  }
  pthread_mutex_unlock(&w->mutex);
  return NULL;
}

static void free_writer(writer *w) {
  sink_close(&w->target);
  pthread_cond_destroy(&w->wake);
  pthread_mutex_destroy(&w->mutex);
  free(w->filling.bytes);
  free(w->writing.bytes);
  free(w);
}

static int start_thread(writer *w) {
  /* Signals are for the host's threads. */
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
  int is_started = pthread_create(&w->thread, NULL, run, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!is_started) return 0;
  /* From here on the thread has its name. */
  pthread_mutex_lock(&w->mutex);
  while (!w->runs) pthread_cond_wait(&w->wake, &w->mutex);
  pthread_mutex_unlock(&w->mutex);
  return 1;
}

writer *writer_start(const crb_host *host, crb_self self, const sink *target, size_t queue_bytes) {
  writer *w = calloc(1, sizeof *w);
  if (!w) {
    sink left = *target;
    sink_close(&left);
    return NULL;
  }
  w->host = host;
  w->self = self;
  w->target = *target;
  w->limit = queue_bytes / 2;
  pthread_mutex_init(&w->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&w->wake, &attributes);
  pthread_condattr_destroy(&attributes);
  w->filling.bytes = malloc(w->limit);
  w->writing.bytes = malloc(w->limit);
  if (!w->filling.bytes || !w->writing.bytes || !start_thread(w)) {
    free_writer(w);
    return NULL;
  }
  return w;
}

void writer_add(writer *w, const char *line, size_t length) {
  pthread_mutex_lock(&w->mutex);
  if (length <= w->limit - w->filling.length) {
    memcpy(w->filling.bytes + w->filling.length, line, length);
    w->filling.length += length;
  } else {
    w->dropped++;
  }
  int wakes = w->sleeps;
  w->sleeps = 0;
  pthread_mutex_unlock(&w->mutex);
  if (wakes) pthread_cond_signal(&w->wake);
}

void writer_stop(writer *w) {
  pthread_mutex_lock(&w->mutex);
  w->ends = 1;
  pthread_mutex_unlock(&w->mutex);
  pthread_cond_signal(&w->wake);
  pthread_join(w->thread, NULL);
  free_writer(w);
}
