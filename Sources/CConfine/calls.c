#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* An allow-list: a call without a row fails with ENOSYS, so that a newer libc falls back to the older call.  Rows compare arguments by
 * value, never memory behind a pointer, which another thread could change after the check.  Rows of one number apply in order. */
struct row {
  uint16_t number;
  uint8_t kind;
  uint8_t argument;
  uint32_t mask, value; /* of the argument's lower half, which is all the kernel takes of those that are judged */
  uint32_t answer;
};

enum { ALWAYS, IF, UNLESS };
#define YES SECCOMP_RET_ALLOW
/* Through SIGSYS: the handler notes the call and returns this errno.  PR03 reports the call as a fault of the plugin. */
#define REFUSE(code) (SECCOMP_RET_TRAP | (code))
/* By the kernel, not noted and no fault: libc and run times make these calls themselves and have a fallback. */
#define QUIETLY(code) (SECCOMP_RET_ERRNO | (code))

#define ALLOW(call) {SYS_##call, ALWAYS, 0, 0, 0, YES}
#define ANSWER(call, answer) {SYS_##call, ALWAYS, 0, 0, 0, answer}
#define WHEN(call, argument, mask, value) {SYS_##call, IF, argument, mask, value, YES}
#define NOT_WHEN(call, argument, mask, value, answer) {SYS_##call, IF, argument, mask, value, answer}
#define ONLY_WHEN(call, argument, mask, value, answer) {SYS_##call, UNLESS, argument, mask, value, answer}
#define QUIET(call) {SYS_##call, ALWAYS, 0, 0, 0, QUIETLY(ENOSYS)}
/* For calls that the headers of older systems do not name.  From 424 on all machines have the same numbers. */
#define QUIET_NUMBER(number) {number, ALWAYS, 0, 0, 0, QUIETLY(ENOSYS)}
/* As a value: the number of this process. */
#define SELF 0xffffffffu
#define ALL 0xffffffffu

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define THREAD_MAY (CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID)
#define FORK_MAY (CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID)

/* The additional calls of a trial: copies of the process, files in its folder (Landlock decides which), and calls that change only the
 * process itself, because checks find out whether a plugin did that. */
static const struct row harness[] = {
    WHEN(clone, 0, ~(uint32_t)FORK_MAY, SIGCHLD), ALLOW(wait4), ALLOW(waitid),
    /* The own process group contains only copies of this process, since it leads a session or at least a group. */
    WHEN(kill, 0, ALL, SELF), WHEN(kill, 0, ALL, 0),
    ALLOW(mkdirat), ALLOW(unlinkat), ALLOW(renameat2), ALLOW(symlinkat), ALLOW(pwrite64), ALLOW(preadv), ALLOW(pwritev),
    ALLOW(ftruncate), ALLOW(fallocate), ALLOW(fsync), ALLOW(fdatasync), ALLOW(flock), ALLOW(statfs), ALLOW(fstatfs),
    NOT_WHEN(memfd_create, 1, 4 /* MFD_HUGETLB */, 4, REFUSE(EPERM)), ALLOW(memfd_create),
    ALLOW(dup), ALLOW(dup3), ALLOW(chdir), ALLOW(fchdir), ALLOW(umask), ALLOW(mincore), ALLOW(msync),
    WHEN(fcntl, 1, ALL, F_SETFL), WHEN(fcntl, 1, ALL, F_GETLK), WHEN(fcntl, 1, ALL, F_SETLK), WHEN(fcntl, 1, ALL, F_SETLKW),
    WHEN(ioctl, 1, ALL, FIOCLEX), WHEN(ioctl, 1, ALL, FIONCLEX), WHEN(ioctl, 1, ALL, FIONREAD), WHEN(ioctl, 1, ALL, FIONBIO),
    WHEN(prctl, 0, ALL, 59 /* PR_SET_SYSCALL_USER_DISPATCH */), WHEN(prctl, 0, ALL, PR_GET_NAME),
    WHEN(prctl, 0, ALL, PR_GET_DUMPABLE), WHEN(prctl, 0, ALL, PR_GET_SECCOMP), WHEN(prctl, 0, ALL, PR_SET_SECCOMP),
    WHEN(prctl, 0, ALL, PR_GET_NO_NEW_PRIVS), WHEN(prctl, 0, ALL, PR_SET_NO_NEW_PRIVS), WHEN(prctl, 0, ALL, PR_GET_TIMERSLACK),
    WHEN(prctl, 0, ALL, PR_SET_TIMERSLACK), ALLOW(seccomp),
    ALLOW(setrlimit), ALLOW(getrlimit), ALLOW(getpriority),
    /* Of this process only.  A higher priority fails as without a sandbox, and is not noted: libdispatch requests -2. */
    ONLY_WHEN(setpriority, 0, ALL, PRIO_PROCESS, REFUSE(EPERM)), ONLY_WHEN(setpriority, 1, ALL, 0, REFUSE(EPERM)),
    NOT_WHEN(setpriority, 2, 0x80000000u, 0x80000000u, QUIETLY(EACCES)), ALLOW(setpriority),
    WHEN(sched_setaffinity, 0, ALL, 0), WHEN(sched_setscheduler, 0, ALL, 0), WHEN(sched_setparam, 0, ALL, 0),
    ALLOW(sched_getscheduler), ALLOW(sched_getparam), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
    ALLOW(setitimer), ALLOW(getitimer), ALLOW(timer_create), ALLOW(timer_settime), ALLOW(timer_gettime),
    ALLOW(timer_getoverrun), ALLOW(timer_delete), ALLOW(timerfd_gettime), ALLOW(signalfd4), ALLOW(rt_sigpending),
    ALLOW(rt_sigsuspend), ALLOW(pselect6), ALLOW(getgroups), ALLOW(getresuid), ALLOW(getresgid), ALLOW(getpgid), ALLOW(getsid),
    ALLOW(capget),
#ifdef SYS_renameat
    ALLOW(renameat),
#endif
#if defined(__x86_64__)
    NOT_WHEN(open, 1, O_ACCMODE | O_TRUNC, O_TRUNC, REFUSE(EINVAL)), ALLOW(open), ALLOW(stat), ALLOW(lstat), ALLOW(mkdir),
    ALLOW(rmdir), ALLOW(unlink), ALLOW(rename), ALLOW(symlink), ALLOW(dup2), ALLOW(pipe), ALLOW(select), ALLOW(alarm),
    ALLOW(getpgrp), ALLOW(getdents), ALLOW(arch_prctl),
#endif
};

/* The additional calls of a worker. */
static const struct row worker[] = {
    /* posix_spawn() blocks all signals around this call.  The kernel ends a process that blocks SIGSYS, so it is not noted. */
    NOT_WHEN(clone, 0, CLONE_VFORK, CLONE_VFORK, QUIETLY(EPERM)),
    /* Of this process, and without effect: libdispatch requests -2, and writes to the log of the system if that fails. */
    ONLY_WHEN(setpriority, 0, ALL, PRIO_PROCESS, REFUSE(EPERM)), ONLY_WHEN(setpriority, 1, ALL, 0, REFUSE(EPERM)),
    ANSWER(setpriority, QUIETLY(0)),
};

/* For a worker without Landlock, which would otherwise open files for writing with the rights of its user. */
static const struct row unwalled[] = {
    NOT_WHEN(openat, 2, O_ACCMODE, O_WRONLY, QUIETLY(EACCES)), NOT_WHEN(openat, 2, O_ACCMODE, O_RDWR, QUIETLY(EACCES)),
    NOT_WHEN(openat, 2, O_CREAT, O_CREAT, QUIETLY(EACCES)),
};

/* The calls of libc, of the run times of languages, and of plugins. */
static const struct row common[] = {
    /* Threads and waiting. */
    ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(getcpu),
    ALLOW(membarrier), WHEN(clone, 0, ~(uint32_t)THREAD_MAY, THREAD),
    /* Its flags are behind a pointer.  libc falls back to clone(). */
    ANSWER(clone3, QUIETLY(ENOSYS)),
    /* Memory that RLIMIT_DATA counts.  Other memory is refused because it could not be limited; it is not a fault. */
    NOT_WHEN(mmap, 3, MAP_GROWSDOWN, MAP_GROWSDOWN, QUIETLY(ENOMEM)),
    NOT_WHEN(mmap, 3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS, QUIETLY(ENOMEM)), ALLOW(mmap), ALLOW(munmap),
    ALLOW(mprotect), ALLOW(mremap), ALLOW(madvise), ALLOW(brk),
    /* The process itself. */
    ALLOW(exit), ALLOW(exit_group), ALLOW(restart_syscall), ALLOW(set_tid_address), ALLOW(gettid), ALLOW(getpid), ALLOW(getppid),
    ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(uname), ALLOW(sysinfo), ALLOW(getrusage),
    WHEN(prlimit64, 0, ALL, 0), WHEN(prctl, 0, ALL, PR_SET_NAME),
    /* Handlers of run times, abort(). */
    ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(rt_sigtimedwait),
    WHEN(tgkill, 0, ALL, SELF),
    /* Libraries and other readable files.  Old versions of Landlock let O_TRUNC pass if nothing is written otherwise. */
    NOT_WHEN(openat, 2, O_ACCMODE | O_TRUNC, O_TRUNC, REFUSE(EINVAL)),
    NOT_WHEN(openat, 2, ~(uint32_t)O_CLOEXEC, O_NONBLOCK, REFUSE(CCONFINE_OPEN_STAT)), ALLOW(openat), ALLOW(read), ALLOW(readv),
    ALLOW(pread64), ALLOW(lseek), ALLOW(close), ALLOW(close_range), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx),
    ALLOW(readlinkat), ALLOW(faccessat), ALLOW(faccessat2), ALLOW(getdents64), ALLOW(getcwd),
    ALLOW(write), ALLOW(writev),
    WHEN(fcntl, 1, ~3u, 0) /* F_DUPFD, F_GETFD, F_SETFD, F_GETFL */, WHEN(fcntl, 1, ALL, F_DUPFD_CLOEXEC),
    /* isatty() */
    ANSWER(ioctl, QUIETLY(ENOTTY)),
    /* Run times: libdispatch, Go, Tokio. */
    ALLOW(ppoll), ALLOW(epoll_create1), ALLOW(epoll_ctl), ALLOW(epoll_pwait), ALLOW(epoll_pwait2), ALLOW(eventfd2),
    ALLOW(timerfd_create), ALLOW(timerfd_settime), ALLOW(pipe2),
    /* Time and random numbers. */
    ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday), ALLOW(times),
    ALLOW(getrandom),
#if defined(__x86_64__)
    ALLOW(readlink), ALLOW(access), ALLOW(poll), ALLOW(epoll_wait), ALLOW(pause), ALLOW(time),
#endif
};

/* Calls that affect only the process itself, and that libc, run times and libraries make as optimizations: advice about memory and
 * files, newer forms of allowed calls, copies between own descriptors, and queries of own state. */
static const struct row probes[] = {
    QUIET(fadvise64), QUIET(readahead), QUIET(sync_file_range), QUIET(copy_file_range), QUIET(sendfile), QUIET(splice),
    QUIET(preadv2), QUIET(pwritev2), QUIET(mlock), QUIET(mlock2), QUIET(munlock), QUIET(get_mempolicy), QUIET(set_mempolicy),
    QUIET(mbind), QUIET(pkey_alloc), QUIET(pkey_free), QUIET(pkey_mprotect), QUIET(getxattr), QUIET(lgetxattr),
    QUIET(fgetxattr), QUIET(listxattr), QUIET(llistxattr), QUIET(flistxattr), QUIET(get_robust_list),
    QUIET(sched_rr_get_interval), QUIET(sched_getattr), QUIET(ioprio_get),
    QUIET_NUMBER(447 /* memfd_secret */), QUIET_NUMBER(449 /* futex_waitv */), QUIET_NUMBER(451 /* cachestat */),
    QUIET_NUMBER(453 /* map_shadow_stack */), QUIET_NUMBER(454 /* futex_wake */), QUIET_NUMBER(455 /* futex_wait */),
    QUIET_NUMBER(456 /* futex_requeue */), QUIET_NUMBER(462 /* mseal */),
    NOT_WHEN(prctl, 0, ALL, 0x53564d41 /* PR_SET_VMA */, QUIETLY(EINVAL)),
    NOT_WHEN(prctl, 0, ALL, PR_CAPBSET_READ, QUIETLY(EINVAL)),
    NOT_WHEN(fcntl, 1, ALL, F_OFD_GETLK, QUIETLY(EINVAL)), NOT_WHEN(fcntl, 1, ALL, F_OFD_SETLK, QUIETLY(EINVAL)),
    NOT_WHEN(fcntl, 1, ALL, F_OFD_SETLKW, QUIETLY(EINVAL)), NOT_WHEN(fcntl, 1, ALL, F_GETPIPE_SZ, QUIETLY(EINVAL)),
    NOT_WHEN(fcntl, 1, ALL, F_SETPIPE_SZ, QUIETLY(EPERM)), NOT_WHEN(fcntl, 1, ALL, F_GET_SEALS, QUIETLY(EINVAL)),
    NOT_WHEN(fcntl, 1, ALL, F_ADD_SEALS, QUIETLY(EPERM)),
};

/* Known calls with forbidden arguments fail as they do for a process without privileges. */
static const struct row last[] = {
    ANSWER(clone, REFUSE(EPERM)),       ANSWER(prlimit64, REFUSE(EPERM)), ANSWER(prctl, REFUSE(EINVAL)),
    ANSWER(kill, REFUSE(EPERM)),        ANSWER(tgkill, REFUSE(EPERM)),    ANSWER(fcntl, REFUSE(EPERM)),
    ANSWER(sched_setaffinity, REFUSE(EPERM)), ANSWER(sched_setscheduler, REFUSE(EPERM)),
    ANSWER(sched_setparam, REFUSE(EPERM)),
};

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* Both are far below the kernel's limit of 4096 steps. */
enum { MOST_STEPS = 2048, MOST_ROWS = 512 };

struct entry {
  const struct row *row;
  size_t order;
};

struct program {
  struct entry entries[MOST_ROWS];
  size_t entry_count;
  struct sock_filter steps[MOST_STEPS];
  size_t count;
  uint32_t self;
};

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define LOAD(field) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(field)))
#define GIVE(answer) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (answer)))
#define EQUAL(value, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no)))

static void add_rows(struct program *program, const struct row *rows, size_t count) {
  for (size_t index = 0; index < count; index++) {
    size_t order = program->entry_count++;
    if (order < MOST_ROWS) program->entries[order] = (struct entry){&rows[index], order};
  }
}

/* Rows of one number stay in order. */
static int by_number(const void *one, const void *other) {
  const struct entry *first = one, *second = other;
  if (first->row->number != second->row->number) return first->row->number < second->row->number ? -1 : 1;
  return first->order < second->order ? -1 : 1;
}

static void add(struct program *program, struct sock_filter step) {
  if (program->count < MOST_STEPS) program->steps[program->count] = step;
  program->count++;
}

/* Compares the argument of a row, and goes on after its answer. */
static void add_comparison(struct program *program, const struct row *row) {
  size_t argument = offsetof(struct seccomp_data, args) + 8u * row->argument;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  argument += 4;
#endif
  uint32_t value = row->value == SELF && row->mask == ALL ? program->self : row->value;
  add(program, LOAD(argument));
  add(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, row->mask));
  add(program, EQUAL(value, row->kind == UNLESS, row->kind == IF));
  add(program, GIVE(row->answer));
}

/* The rows of one number.  A call that none of them answers is not permitted, and neither is another number. */
static void add_number(struct program *program, size_t first, size_t end) {
  add(program, EQUAL(program->entries[first].row->number, 1, 0));
  add(program, GIVE(REFUSE(ENOSYS)));
  for (size_t index = first; index < end; index++) {
    const struct row *row = program->entries[index].row;
    if (row->kind == ALWAYS) {
      add(program, GIVE(row->answer));
      return;
    }
    add_comparison(program, row);
  }
  add(program, GIVE(REFUSE(ENOSYS)));
}

/* The first entry of the number in the middle; if that begins the range, of the next number. */
static size_t middle_of(const struct program *program, size_t first, size_t end) {
  const struct entry *entries = program->entries;
  size_t middle = first + (end - first) / 2;
  while (middle > first && entries[middle - 1].row->number == entries[middle].row->number) middle--;
  while (middle == first || entries[middle - 1].row->number == entries[middle].row->number) middle++;
  return middle;
}

/* Searches by halves: a call whose arguments are compared takes the filter each time, and the kernel runs it for all numbers when it is
 * installed. */
static void add_search(struct program *program, size_t first, size_t end) {
  if (program->entries[first].row->number == program->entries[end - 1].row->number) {
    add_number(program, first, end);
    return;
  }
  size_t middle = middle_of(program, first, end);
  add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, program->entries[middle].row->number, 0, 1));
  size_t jump = program->count;
  /* To the upper half, which may be further than a comparison can jump. */
  add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
  add_search(program, first, middle);
  if (jump < MOST_STEPS) program->steps[jump].k = (uint32_t)(program->count - jump - 1);
  add_search(program, middle, end);
}

int CConfine_filterCalls(enum CConfine_profile profile, int has_wall) {
#ifdef MACHINE
  static struct program program;
  program.self = (uint32_t)getpid();
  program.count = program.entry_count = 0;
  add(&program, LOAD(offsetof(struct seccomp_data, arch)));
  /* The call numbers of another machine (i386, arm) have other meanings. */
  add(&program, EQUAL(MACHINE, 1, 0));
  add(&program, GIVE(QUIETLY(ENOSYS)));
  add(&program, LOAD(offsetof(struct seccomp_data, nr)));
  if (profile == CCONFINE_HARNESS) add_rows(&program, harness, COUNT(harness));
  if (profile == CCONFINE_WORKER) add_rows(&program, worker, COUNT(worker));
  if (profile == CCONFINE_WORKER && !has_wall) add_rows(&program, unwalled, COUNT(unwalled));
  add_rows(&program, common, COUNT(common));
  add_rows(&program, probes, COUNT(probes));
  add_rows(&program, last, COUNT(last));
  if (program.entry_count > MOST_ROWS) return CConfine_miss(CCONFINE_CALLS, "the table of system calls", E2BIG);
  qsort(program.entries, program.entry_count, sizeof *program.entries, by_number);
  /* The calls of x32 have numbers above all others, and are refused with the last one. */
  add_search(&program, 0, program.entry_count);
  if (program.count > MOST_STEPS) return CConfine_miss(CCONFINE_CALLS, "the filter", E2BIG);
  if (CConfine_catchRefusals() != 0) return CConfine_miss(CCONFINE_CALLS, "the handler of SIGSYS", errno);
  struct sock_fprog filter = {.len = (unsigned short)program.count, .filter = program.steps};
  /* A positive result is the number of a thread that cannot have the filter. */
  long answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  return answer == 0 ? 0 : CConfine_miss(CCONFINE_CALLS, "seccomp()", answer < 0 ? errno : EBUSY);
#else
  (void)profile, (void)has_wall;
  return CConfine_miss(CCONFINE_CALLS, "a filter for this machine", ENOSYS);
#endif
}
