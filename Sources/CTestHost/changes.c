#define _GNU_SOURCE
#include <locale.h>
#include <malloc.h>
#include <printf.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "test_host.h"

/* Functions that change the host's thread or the process, and whose effect is not visible from outside or is prevented by the
 * confinement.  A plugin may set the priority of its own thread, so only calls on the watched thread count. */
static _Thread_local int watched;

#define CALLS_MAX 32
static const char *calls[CALLS_MAX];
static size_t call_count;

/* Notes a call if this is the watched thread.  No other thread changes `calls`. */
static void note(const char *name) {
  if (!watched) return;
  for (size_t index = 0; index < call_count; index++) {
    if (calls[index] == name) return;
  }
  if (call_count < CALLS_MAX) calls[call_count++] = name;
}

/* Whether the call changes this thread or process.  It may also name another thread of the plugin. */
static int is_self(pid_t who) { return who == 0 || who == getpid(); }

static int note_nice(int step) {
  note("nice");
  return nice(step);
}
static int note_setpriority(__priority_which_t which, id_t who, int priority) {
  if (which != PRIO_PROCESS || is_self((pid_t)who)) note("setpriority");
  return setpriority(which, who, priority);
}
static int note_setaffinity(pid_t who, size_t size, const cpu_set_t *set) {
  if (is_self(who)) note("sched_setaffinity");
  return sched_setaffinity(who, size, set);
}
static int note_setscheduler(pid_t who, int policy, const struct sched_param *parameters) {
  if (is_self(who)) note("sched_setscheduler");
  return sched_setscheduler(who, policy, parameters);
}
static int note_thread_affinity(pthread_t thread, size_t size, const cpu_set_t *set) {
  if (pthread_equal(thread, pthread_self())) note("pthread_setaffinity_np");
  return pthread_setaffinity_np(thread, size, set);
}
static int note_thread_scheduling(pthread_t thread, int policy, const struct sched_param *parameters) {
  if (pthread_equal(thread, pthread_self())) note("pthread_setschedparam");
  return pthread_setschedparam(thread, policy, parameters);
}
static int note_setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old) {
  note("setitimer");
  return setitimer(which, value, old);
}
static unsigned note_alarm(unsigned seconds) {
  note("alarm");
  return alarm(seconds);
}
static void note_srand(unsigned seed) {
  note("srand");
  srand(seed);
}
static void note_srandom(unsigned seed) {
  note("srandom");
  srandom(seed);
}
static void note_srand48(long seed) {
  note("srand48");
  srand48(seed);
}
/* A program reads its locale with NULL. */
static char *note_setlocale(int category, const char *name) {
  if (name) note("setlocale");
  return setlocale(category, name);
}
static int note_mallopt(int parameter, int value) {
  note("mallopt");
  return mallopt(parameter, value);
}
static int note_printf_specifier(int letter, printf_function *print, printf_arginfo_size_function *describe) {
  note("register_printf_specifier");
  return register_printf_specifier(letter, print, describe);
}
static int note_printf_modifier(const wchar_t *text) {
  note("register_printf_modifier");
  return register_printf_modifier(text);
}
static int note_printf_type(printf_va_arg_function *take) {
  note("register_printf_type");
  return register_printf_type(take);
}
static char *note_initstate(unsigned seed, char *state, size_t size) {
  note("initstate");
  return initstate(seed, state, size);
}
static char *note_setstate(char *state) {
  note("setstate");
  return setstate(state);
}
static int note_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (option == PR_SET_SECCOMP) note("seccomp");
  return prctl(option, a, b, c, d);
}
static long note_syscall(long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
    case SYS_seccomp: note("seccomp"); break;
    case SYS_prctl:
      if (a == PR_SET_SECCOMP) note("seccomp");
      break;
    case SYS_setpriority: note("setpriority"); break;
    case SYS_sched_setaffinity:
      if (is_self((pid_t)a)) note("sched_setaffinity");
      break;
    case SYS_setitimer: note("setitimer"); break;
    default: break;
  }
  return syscall(number, a, b, c, d, e, f);
}

static const struct {
  const char *name;
  void *by;
} replacements[] = {
    {"nice", (void *)note_nice},
    {"setpriority", (void *)note_setpriority},
    {"sched_setaffinity", (void *)note_setaffinity},
    {"sched_setscheduler", (void *)note_setscheduler},
    {"pthread_setaffinity_np", (void *)note_thread_affinity},
    {"pthread_setschedparam", (void *)note_thread_scheduling},
    {"setitimer", (void *)note_setitimer},
    {"alarm", (void *)note_alarm},
    {"srand", (void *)note_srand},
    {"srandom", (void *)note_srandom},
    {"srand48", (void *)note_srand48},
    {"setlocale", (void *)note_setlocale},
    {"mallopt", (void *)note_mallopt},
    {"register_printf_specifier", (void *)note_printf_specifier},
    {"register_printf_modifier", (void *)note_printf_modifier},
    {"register_printf_type", (void *)note_printf_type},
    {"initstate", (void *)note_initstate},
    {"setstate", (void *)note_setstate},
    {"prctl", (void *)note_prctl},
    {"syscall", (void *)note_syscall},
};

int CTestHost_watchChanges(const void *inside) {
  int places = 0;
  watched = 1;
  for (size_t index = 0; index < sizeof replacements / sizeof *replacements; index++) {
    places += CTestHost_replaceImport(inside, replacements[index].name, replacements[index].by, NULL);
  }
  return places;
}

const char *CTestHost_takeChange(void) { return call_count ? calls[--call_count] : NULL; }

/* ------------------------------------------------------------------------------------------------------------------- */

static uint64_t handlers, objects;

/* libc calls this for atexit() without an argument, and languages for the destructor of an object with the object. */
static int count_cxa_atexit(void (*function)(void *), void *argument, void *library) {
  extern int __cxa_atexit(void (*)(void *), void *, void *);
  __atomic_fetch_add(argument ? &objects : &handlers, 1, __ATOMIC_RELAXED);
  return __cxa_atexit(function, argument, library);
}
static int count_cxa_at_quick_exit(void (*function)(void *), void *library) {
  extern int __cxa_at_quick_exit(void (*)(void *), void *);
  __atomic_fetch_add(&handlers, 1, __ATOMIC_RELAXED);
  return __cxa_at_quick_exit(function, library);
}
static int count_on_exit(void (*function)(int, void *), void *argument) {
  __atomic_fetch_add(&handlers, 1, __ATOMIC_RELAXED);
  return on_exit(function, argument);
}
static int count_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library) {
  extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
  __atomic_fetch_add(&handlers, 1, __ATOMIC_RELAXED);
  return __register_atfork(prepare, parent, child, library);
}

int CTestHost_watchHandlers(const void *inside) {
  return CTestHost_replaceImport(inside, "__cxa_atexit", (void *)count_cxa_atexit, NULL) +
         CTestHost_replaceImport(inside, "__cxa_at_quick_exit", (void *)count_cxa_at_quick_exit, NULL) +
         CTestHost_replaceImport(inside, "on_exit", (void *)count_on_exit, NULL) +
         CTestHost_replaceImport(inside, "__register_atfork", (void *)count_atfork, NULL);
}

uint64_t CTestHost_exitHandlers(void) { return __atomic_load_n(&handlers, __ATOMIC_RELAXED); }
uint64_t CTestHost_exitObjects(void) { return __atomic_load_n(&objects, __ATOMIC_RELAXED); }
