#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* Landlock confines a thread and its children, so there must be no other thread. */
static int is_alone(void) {
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return 0;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
  closedir(threads);
  return count == 1;
}

static int close_others(const int *kept, size_t count) {
  unsigned from = 0;
  for (size_t index = 0; index < count; index++) {
    unsigned descriptor = (unsigned)kept[index];
    if (descriptor > from && syscall(SYS_close_range, from, descriptor - 1, 0) != 0) return -1;
    from = descriptor + 1;
  }
  return (int)syscall(SYS_close_range, from, ~0u, 0);
}

/* Lowers a limit.  Returns -1 if that fails. */
static int lower(int resource, uint64_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return CConfine_miss(CCONFINE_LIMITS, "getrlimit()", errno);
  if (now.rlim_max > most) now.rlim_max = most;
  if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  return setrlimit(resource, &now) == 0 ? 0 : CConfine_miss(CCONFINE_LIMITS, "setrlimit()", errno);
}

/* Returns -1 if a limit could not be lowered. */
static int lower_all(const struct CConfine_settings *settings) {
  const struct CConfine_limits *limits = &settings->limits;
  /* A process with real-time priority could starve all others. */
  int failed = lower(RLIMIT_CORE, 0) | lower(RLIMIT_RTPRIO, 0);
  if (limits->data) failed |= lower(RLIMIT_DATA, limits->data);
  if (limits->addresses) failed |= lower(RLIMIT_AS, limits->addresses);
  if (limits->file || settings->profile == CCONFINE_WORKER) failed |= lower(RLIMIT_FSIZE, limits->file);
  /* A write beyond the limit fails, whatever signals the host blocked.  The signal would end the worker, and calls of others in it. */
  if (settings->profile == CCONFINE_WORKER) signal(SIGXFSZ, SIG_IGN);
  if (limits->descriptors) failed |= lower(RLIMIT_NOFILE, limits->descriptors);
  if (limits->processor) failed |= lower(RLIMIT_CPU, limits->processor);
  return failed;
}

/* If the system runs out of memory, the kernel kills this process first. */
static void end_first(void) {
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  if (write(score, "1000", 4) < 0) errno = 0;
  close(score);
}

/* Ends this process together with its parent.  The parent may have ended already. */
static void end_with(pid_t parent) {
  if (parent == 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(3);
}

/* The following return 0, or -1 after they noted the reason. */

static int lead_session(void) {
  return getsid(0) == getpid() || setsid() >= 0 ? 0 : CConfine_miss(CCONFINE_SESSION, "setsid()", errno);
}

static int keep_descriptors(const struct CConfine_settings *settings) {
  if (close_others(settings->kept, settings->kept_count) != 0) return CConfine_miss(CCONFINE_DESCRIPTORS, "close_range()", errno);
  return CConfine_tryDescriptors(settings);
}

static int become_user(const struct CConfine_settings *settings) {
  if (CConfine_becomeUser(settings->user, settings->group) != 0) CConfine_miss(CCONFINE_USER, "a change of the user", errno);
  /* Otherwise /proc/self belongs to root. */
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return CConfine_tryUser();
}

static int be_apart(const struct CConfine_settings *settings, int is_alone) {
  struct CConfine_place before;
  if (settings->launch) before = settings->launch->outside;
  else CConfine_look(&before);
  if (!is_alone) return CConfine_miss(CCONFINE_NAMESPACES, "it has several threads", 0);
  if (CConfine_enterNamespaces(settings) != 0 || CConfine_tryNamespaces(settings, &before) != 0) return -1;
  return settings->limits.processes ? lower(RLIMIT_NPROC, settings->limits.processes) : 0;
}

static int drop_privileges(int is_alone) {
  int dropped = CConfine_dropCapabilities();
  /* An ordinary user may install a filter only with this flag. */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return CConfine_miss(CCONFINE_PRIVILEGES, "PR_SET_NO_NEW_PRIVS", errno);
  if (!is_alone) return CConfine_miss(CCONFINE_PRIVILEGES, "it has several threads", 0);
  return dropped == 0 ? CConfine_tryPrivileges() : -1;
}

static uint32_t layers;

static uint32_t in_force(uint32_t layer, int failed) { return failed ? 0 : layer; }

/* The layers of a process without a filter and without a wall, which would refuse these steps. */
static uint32_t confine_process(const struct CConfine_settings *settings, int is_alone) {
  uint32_t had = in_force(CCONFINE_SESSION, lead_session());
  had |= in_force(CCONFINE_DESCRIPTORS, keep_descriptors(settings));
  int limited = lower_all(settings);
  end_first();
  /* Before the namespaces, in which a user without a number looks like another one. */
  had |= in_force(CCONFINE_USER, become_user(settings));
  had |= in_force(CCONFINE_NAMESPACES, be_apart(settings, is_alone));
  /* After the change of the user, which clears the signal. */
  end_with(settings->parent);
  had |= in_force(CCONFINE_PRIVILEGES, drop_privileges(is_alone));
  /* Without the privileges, with which limits can be raised. */
  return had | in_force(CCONFINE_LIMITS, limited != 0 || CConfine_tryLimits(settings) != 0);
}

/* The root that the launcher of a worker made. */
static uint32_t confine_root(const struct CConfine_settings *settings) {
  if (!settings->launch) return 0;
  if (!(settings->launch->layers & CCONFINE_ROOT)) {
    CConfine_miss(CCONFINE_ROOT, settings->launch->root.step, settings->launch->root.code);
    return 0;
  }
  return in_force(CCONFINE_ROOT, CConfine_tryRoot(settings));
}

uint32_t CConfine_confine(const struct CConfine_settings *settings) {
  CConfine_forgetReasons();
  int alone = is_alone();
  uint32_t had = confine_process(settings, alone);
  had |= confine_root(settings);
  if (!alone) CConfine_miss(CCONFINE_FILES, "it has several threads", 0);
  if (alone && CConfine_wallFiles(settings, (had & CCONFINE_ROOT) != 0) == 0 && CConfine_tryFiles() == 0) had |= CCONFINE_FILES;
  if (CConfine_filterCalls(settings->profile, (had & CCONFINE_FILES) != 0) == 0 && CConfine_tryCalls() == 0) had |= CCONFINE_CALLS;
  CConfine_forgetRefusals();
  layers = had;
  return had;
}

uint32_t CConfine_layers(void) { return layers; }
