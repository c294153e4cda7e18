#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "internal.h"

/* From <asm-generic/siginfo.h>, which libc's headers exclude. */
#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1
#endif

/* More than there are system calls.  The last place counts all others, such as those of x32. */
enum { NUMBERS = 1024 };

/* In memory shared with copies of the process, so that their calls are counted too. */
struct refusals {
  _Atomic uint32_t counts[NUMBERS + 1];
  _Atomic uintptr_t addresses[NUMBERS + 1];
};
static struct refusals *refusals;
static void (*_Atomic listener)(int64_t number, uint64_t address);

#if defined(__x86_64__)
#define ARGUMENT(machine, n) ((machine)->uc_mcontext.gregs[(n) == 0 ? REG_RDI : (n) == 1 ? REG_RSI : REG_RDX])
#define ANSWER(machine) ((machine)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARGUMENT(machine, n) ((machine)->uc_mcontext.regs[n])
#define ANSWER(machine) ((machine)->uc_mcontext.regs[0])
#endif

#ifdef ANSWER
/* The number in /proc/N/stat as text; NULL for every other path. */
static const char *thread_of_stat(const char *path, size_t *length) {
  static const char folder[] = "/proc/", file[] = "/stat";
  if (strncmp(path, folder, sizeof folder - 1) != 0) return NULL;
  const char *number = path + sizeof folder - 1;
  *length = strspn(number, "0123456789");
  return *length > 0 && *length < 12 && strcmp(number + *length, file) == 0 ? number : NULL;
}

/* Opens a file like openat().  O_NOCTTY has no effect on permitted files, and lets the call pass the filter. */
static long open_stat(int folder, const char *path, int flags) {
  long file = syscall(SYS_openat, folder, path, flags | O_NOCTTY, 0);
  if (file >= 0) return file;
  size_t length;
  /* The path may be read here, since the kernel could read it. */
  const char *number = errno == EACCES ? thread_of_stat(path, &length) : NULL;
  if (!number) return -errno;
  char own[64] = "/proc/self/task/";
  strncat(own, number, length);
  strcat(own, "/stat");
  file = syscall(SYS_openat, AT_FDCWD, own, flags | O_NOCTTY, 0);
  return file >= 0 ? file : -errno;
}
#endif

#ifdef ANSWER
/* Whether a number is that of a thread of this process.  Async-signal-safe. */
static int is_own_thread(long number) {
  char path[64] = "/proc/self/task/", digits[24];
  size_t count = sizeof digits;
  if (number <= 0) return 0;
  digits[--count] = '\0';
  for (; number > 0; number /= 10) digits[--count] = (char)('0' + number % 10);
  strcat(path, digits + count);
  return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/* The filter knows only the number of the first process, and no thread numbers.  A call by which a process signals, limits or
 * schedules itself is not a fault, so it is refused but not counted. */
static int is_about_itself(int call, long target) {
  switch (call) {
    case SYS_kill:
    case SYS_tgkill:
    case SYS_prlimit64: return target == getpid();
    case SYS_sched_setaffinity:
    case SYS_sched_setscheduler:
    case SYS_sched_setparam: return is_own_thread(target);
    default: return 0;
  }
}
#endif

/* Returns an error for a call that the kernel refused.  A SIGSYS of any other origin has no effect. */
static void on_refusal(int signal, siginfo_t *info, void *context) {
  (void)signal;
  if (info->si_code != SYS_SECCOMP) return;
#ifdef ANSWER
  ucontext_t *machine = context;
  if (info->si_errno == CCONFINE_OPEN_STAT) {
    int before = errno;
    ANSWER(machine) = open_stat((int)ARGUMENT(machine, 0), (const char *)ARGUMENT(machine, 1), (int)ARGUMENT(machine, 2));
    errno = before;
    return;
  }
  ANSWER(machine) = -(info->si_errno > 0 ? info->si_errno : ENOSYS);
#else
  (void)context;
#endif
#ifdef ANSWER
  if (is_about_itself(info->si_syscall, (long)ARGUMENT(machine, 0))) return;
#endif
  size_t place = info->si_syscall >= 0 && info->si_syscall < NUMBERS ? (size_t)info->si_syscall : NUMBERS;
  if (atomic_fetch_add(&refusals->counts[place], 1) == 0) {
    atomic_store(&refusals->addresses[place], (uintptr_t)info->si_call_addr);
  }
  void (*function)(int64_t, uint64_t) = atomic_load(&listener);
  if (!function) return;
  int before = errno;
  function(info->si_syscall, (uintptr_t)info->si_call_addr);
  errno = before;
}

int CConfine_catchRefusals(void) {
  if (!refusals) {
    void *shared = mmap(NULL, sizeof *refusals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return -1;
    refusals = shared;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_refusal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  return sigaction(SIGSYS, &action, NULL);
}

void CConfine_onRefusal(void (*function)(int64_t number, uint64_t address)) { atomic_store(&listener, function); }

void CConfine_forgetRefusals(void) {
  if (!refusals) return;
  for (size_t place = 0; place <= NUMBERS; place++) {
    atomic_store(&refusals->counts[place], 0);
    atomic_store(&refusals->addresses[place], 0);
  }
}

size_t CConfine_refusals(struct CConfine_refusal *out, size_t capacity) {
  size_t found = 0;
  if (!refusals) return 0;
  for (size_t place = 0; place <= NUMBERS; place++) {
    uint32_t count = atomic_load(&refusals->counts[place]);
    if (count == 0) continue;
    if (found < capacity) {
      out[found] = (struct CConfine_refusal){
          .number = place == NUMBERS ? -1 : (int64_t)place, .count = count, .address = atomic_load(&refusals->addresses[place])};
    }
    found++;
  }
  return found;
}
