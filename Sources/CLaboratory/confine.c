#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "laboratory.h"

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* The kernel of a filter: system calls by number, the low half of their first argument, and what is answered. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define REFUSE_CALL(number) IS((number), 0, 1), REFUSE

/* Sockets other than local ones, and everything by which a process leaves the group it is killed with, or reaches others. */
static int filter_calls(void) {
  uint32_t self = (uint32_t)getpid();
  struct sock_filter filter[] = {
      LOAD(arch),
      IS(MACHINE, 1, 0),
      REFUSE,
      LOAD(nr),
      /* The same calls under numbers of another kind (x32). */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),
      REFUSE,
      REFUSE_CALL(SYS_setsid),
      REFUSE_CALL(SYS_setpgid),
      REFUSE_CALL(SYS_ptrace),
      REFUSE_CALL(SYS_process_vm_writev),
      REFUSE_CALL(SYS_unshare),
      REFUSE_CALL(SYS_setns),
      REFUSE_CALL(SYS_mount),
      REFUSE_CALL(SYS_pidfd_send_signal),
      /* socket(AF_UNIX, ...) */
      IS(SYS_socket, 0, 4),
      LOAD(args[0]),
      IS(AF_UNIX, 0, 1),
      ALLOW,
      REFUSE,
      /* Signals to itself; 0 is its own group, which holds nobody else. */
      IS(SYS_kill, 2, 0),
      IS(SYS_tgkill, 1, 0),
      ALLOW,
      LOAD(args[0]),
      IS(self, 1, 0),
      IS(0, 0, 1),
      ALLOW,
      REFUSE,
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* Rights of later versions of Landlock, by the version that brought them. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

static int allow_below(int rules, const char *path, uint64_t access) {
  int folder = open(path, O_PATH | O_CLOEXEC);
  if (folder < 0) return -1;
  struct landlock_path_beneath_attr below = {.allowed_access = access, .parent_fd = folder};
  int done = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
  close(folder);
  return done;
}

static int keep_files(const char *folder) {
  int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return -1;
  uint64_t files = LANDLOCK_ACCESS_FS_WRITE_FILE;
  uint64_t folders = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) folders |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) files |= LANDLOCK_ACCESS_FS_TRUNCATE;
  struct landlock_ruleset_attr handled = {.handled_access_fs = files | folders};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0) return -1;
  int done = allow_below(rules, folder, files | folders);
  /* What programs write to without harm. */
  allow_below(rules, "/dev/null", files);
  allow_below(rules, "/dev/zero", files);
  allow_below(rules, "/dev/full", files);
  allow_below(rules, "/proc/self", files);
  if (done == 0) done = (int)syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
  return done;
}

static void limit(int resource, uint64_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most) now.rlim_max = most;
  if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

/* When memory runs out, whose it was is clear. */
static void go_first(void) {
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  if (write(score, "1000", 4) < 0) errno = 0;
  close(score);
}

uint32_t CLaboratory_confine(const char *folder, const struct CLaboratory_limits *limits) {
  uint32_t had = 0;
  go_first();
  limit(RLIMIT_CORE, 0);
  if (limits->memory) limit(RLIMIT_AS, limits->memory);
  limit(RLIMIT_FSIZE, limits->file);
  limit(RLIMIT_NOFILE, limits->descriptors);
  limit(RLIMIT_CPU, limits->processor);
  /* Without it an ordinary user may not filter. */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return had;
  if (keep_files(folder) == 0) had |= CLABORATORY_NO_WRITES;
#ifdef MACHINE
  if (filter_calls() == 0) had |= CLABORATORY_NO_NETWORK | CLABORATORY_NO_ESCAPE;
#endif
  return had;
}

static int trace_descriptor = -1;

static void on_abort(int signal) {
  static const char title[] = "stack of the thread that was stopped:\n";
  void *frames[64];
  if (write(trace_descriptor, title, sizeof title - 1) >= 0) {
    backtrace_symbols_fd(frames, backtrace(frames, 64), trace_descriptor);
  }
  /* Again, without us. */
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, NULL);
  raise(signal);
}

void CLaboratory_traceOnAbort(int descriptor) {
  trace_descriptor = descriptor;
  /* The first call loads a library, which a signal handler must not do. */
  void *frame;
  backtrace(&frame, 1);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_abort;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGABRT, &action, NULL);
}

void CLaboratory_endWithParent(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  /* It may have ended before. */
  if (getppid() == 1) _exit(3);
}
