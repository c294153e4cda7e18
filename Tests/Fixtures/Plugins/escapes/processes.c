/* Affects other processes with signals, by reading their memory and by changing their scheduling, and starts processes. */
#include "escape.h"

#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static int kills(void) { return kill(target, 0) == 0; }
static int kills_group(void) { return kill(-getpgid(target), 0) == 0; }
/* Process 1 exists and belongs to root. */
static int kills_first(void) { return kill(1, 0) == 0; }
static int tkills(void) { return syscall(SYS_tkill, target, 0) == 0; }
static int tgkills(void) { return syscall(SYS_tgkill, target, target, 0) == 0; }
static int queues(void) {
  siginfo_t info = {.si_code = SI_QUEUE};
  return syscall(SYS_rt_sigqueueinfo, target, 0, &info) == 0;
}
static int queues_to_thread(void) {
  siginfo_t info = {.si_code = SI_QUEUE};
  return syscall(SYS_rt_tgsigqueueinfo, target, target, 0, &info) == 0;
}
static int opens_process(void) { return syscall(SYS_pidfd_open, target, 0) >= 0; }
static int signals_by_descriptor(void) {
  int process = open(of_target(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return process >= 0 && syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) == 0;
}
static int takes_descriptor(void) {
  int process = (int)syscall(SYS_pidfd_open, target, 0);
  return process >= 0 && syscall(SYS_pidfd_getfd, process, 0, 0) >= 0;
}
static int owns_pipe_for(void) {
  int ends[2];
  return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, target) == 0;
}
static int owns_pipe_for_thread(void) {
  int ends[2];
  struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = target};
  return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN_EX, &owner) == 0;
}
static int traces(void) { return ptrace(PTRACE_SEIZE, target, 0, 0) == 0; }
static int is_traced(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0) == 0; }
static char byte = 'b';
static int reads_memory(void) {
  char copy;
  struct iovec here = {&copy, 1}, there = {&byte, 1};
  /* In another program the address may be unmapped. EFAULT is a success too. */
  return process_vm_readv(target, &here, 1, &there, 1, 0) == 1 || errno == EFAULT;
}
static int writes_memory(void) {
  struct iovec here = {&byte, 1}, there = {NULL, 1};
  return process_vm_writev(target, &here, 1, &there, 1, 0) == 1 || errno == EFAULT;
}
static int compares(void) { return syscall(SYS_kcmp, target, target, KCMP_VM, 0, 0) == 0; }
static int counts_host(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK};
  return syscall(SYS_perf_event_open, &event, target, -1, -1, 0) >= 0;
}
static int counts_machine(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_CPU_CLOCK};
  return syscall(SYS_perf_event_open, &event, -1, 0, -1, 0) >= 0;
}
static int reads_limit(void) {
  struct rlimit limit;
  return prlimit(target, RLIMIT_NOFILE, NULL, &limit) == 0;
}
static int sets_limit(void) {
  struct rlimit limit = {1024, 1024};
  int known = prlimit(target, RLIMIT_NOFILE, NULL, &limit);
  return known == 0 && prlimit(target, RLIMIT_NOFILE, &limit, NULL) == 0;
}
static int sets_affinity(void) {
  cpu_set_t set;
  return sched_getaffinity(target, sizeof set, &set) == 0 && sched_setaffinity(target, sizeof set, &set) == 0;
}
static int sets_scheduler(void) {
  struct sched_param none = {0};
  return sched_setscheduler(target, SCHED_OTHER, &none) == 0;
}
static int sets_parameter(void) {
  struct sched_param none = {0};
  return sched_setparam(target, &none) == 0;
}
static int sets_attributes(void) {
  struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t times[3]; } attributes = {.size = 48};
  return syscall(SYS_sched_getattr, target, &attributes, 48, 0) == 0 && syscall(SYS_sched_setattr, target, &attributes, 0) == 0;
}
static int sets_priority(void) {
  errno = 0;
  int now = getpriority(PRIO_PROCESS, (id_t)target);
  return (now != -1 || errno == 0) && setpriority(PRIO_PROCESS, (id_t)target, now) == 0;
}
static int sets_priority_of_user(void) {
  errno = 0;
  int now = getpriority(PRIO_USER, 0);
  return (now != -1 || errno == 0) && setpriority(PRIO_USER, 0, now) == 0;
}
static int sets_input_priority(void) {
  int now = (int)syscall(SYS_ioprio_get, 1, target);
  return now >= 0 && syscall(SYS_ioprio_set, 1, target, now) == 0;
}
static int moves_pages(void) { return syscall(SYS_move_pages, target, 0ul, NULL, NULL, NULL, 0) == 0; }
static int reads_robust_list(void) {
  void *head;
  size_t length;
  return syscall(SYS_get_robust_list, target, &head, &length) == 0;
}
static int leaves_session(void) { return setsid() >= 0; }
static int leaves_group(void) { return setpgid(0, 0) == 0; }
static int joins_group(void) { return setpgid(0, getpgid(target)) == 0 || setpgid(0, getpgid(1)) == 0; }
static int runs_program(void) {
  pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 0;
}
static int runs_descriptor(void) {
  int program = open("/bin/true", O_PATH | O_CLOEXEC);
  pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    char *words[] = {"true", NULL};
    syscall(SYS_execveat, program, "", words, NULL, AT_EMPTY_PATH);
    _exit(1);
  }
  int status;
  return waitpid(child, &status, 0) == child && status == 0;
}
static int spawns(void) {
  char *words[] = {"true", NULL};
  pid_t child;
  int status;
  return posix_spawn(&child, "/bin/true", NULL, NULL, words, NULL) == 0 && waitpid(child, &status, 0) == child && status == 0;
}
static int makes_sibling(void) {
  long child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child > 0;
}
static int stays_dumpable_no_more(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0; }
static int outlives(void) { return prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0; }
static int adopts(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

ESCAPES({1, "kill", kills, 0}, {2, "kill a group", kills_group, 0}, {3, "kill process 1", kills_first, 0}, {4, "tkill", tkills, 0},
        {5, "tgkill", tgkills, 0}, {6, "rt_sigqueueinfo", queues, 0}, {7, "rt_tgsigqueueinfo", queues_to_thread, 0},
        {8, "pidfd_open", opens_process, 0}, {9, "pidfd_send_signal", signals_by_descriptor, 0}, {10, "pidfd_getfd", takes_descriptor, 0},
        {11, "F_SETOWN", owns_pipe_for, 0}, {12, "F_SETOWN_EX", owns_pipe_for_thread, 0}, {13, "PTRACE_SEIZE", traces, 0},
        {14, "PTRACE_TRACEME", is_traced, 0}, {15, "process_vm_readv", reads_memory, 0}, {16, "process_vm_writev", writes_memory, 0},
        {17, "kcmp", compares, 0}, {18, "perf_event_open", counts_host, 0}, {19, "perf_event_open of a processor", counts_machine, 0},
        {20, "prlimit64 reads", reads_limit, 0}, {21, "prlimit64 sets", sets_limit, 0}, {22, "sched_setaffinity", sets_affinity, 0},
        {23, "sched_setscheduler", sets_scheduler, 0}, {24, "sched_setparam", sets_parameter, 0}, {25, "sched_setattr", sets_attributes, 0},
        {26, "setpriority", sets_priority, 0}, {27, "setpriority of the user", sets_priority_of_user, 0},
        {28, "ioprio_set", sets_input_priority, 0}, {29, "move_pages", moves_pages, 0}, {30, "get_robust_list", reads_robust_list, 0},
        {31, "setsid", leaves_session, 0}, {32, "setpgid", leaves_group, 0}, {33, "setpgid to a group of others", joins_group, 0},
        {34, "execve", runs_program, 0}, {35, "execveat", runs_descriptor, 0}, {36, "posix_spawn", spawns, 0},
        {37, "clone with CLONE_PARENT", makes_sibling, 0}, {38, "PR_SET_DUMPABLE", stays_dumpable_no_more, 0},
        {39, "PR_SET_PDEATHSIG", outlives, 0}, {40, "PR_SET_CHILD_SUBREAPER", adopts, 0})
