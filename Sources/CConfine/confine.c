#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
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
  if (getrlimit(resource, &now) != 0) return -1;
  if (now.rlim_max > most) now.rlim_max = most;
  if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  return setrlimit(resource, &now);
}

static int lower_all(const struct CConfine_limits *limits) {
  /* A process with real-time priority could starve all others. */
  int failed = lower(RLIMIT_CORE, 0) | lower(RLIMIT_RTPRIO, 0);
  if (limits->data) failed |= lower(RLIMIT_DATA, limits->data);
  if (limits->addresses) failed |= lower(RLIMIT_AS, limits->addresses);
  if (limits->file) failed |= lower(RLIMIT_FSIZE, limits->file);
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

static int drop_capabilities(void) {
  /* The sets of the process, and the bounding set, which limits exec. */
  for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0}, left[_LINUX_CAPABILITY_U32S_3] = {0};
  if (syscall(SYS_capset, &header, none) != 0 || syscall(SYS_capget, &header, left) != 0) return -1;
  return memcmp(none, left, sizeof none) == 0 ? 0 : -1;
}

/* If this process is root, changes to another user.  This cannot be undone. */
static void change_user(uid_t user, gid_t group) {
  if (geteuid() != 0 || user == 0) return;
  if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return;
}

static int is_root(void) {
  uid_t real, effective, saved;
  return getresuid(&real, &effective, &saved) != 0 || real == 0 || effective == 0 || saved == 0;
}

/* Ends this process together with its parent.  The parent may have ended already. */
static void end_with(pid_t parent) {
  if (parent == 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(3);
}

/* Tries one forbidden operation of each kind; a layer is in force if it is refused. */
static int is_walled(void) {
  int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root >= 0) close(root);
  return root < 0 && errno == EACCES;
}

static int is_filtered(pid_t parent) {
  int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int by_list = local < 0 && errno == ENOSYS;
  if (local >= 0) close(local);
  int by_argument = syscall(SYS_tgkill, parent, parent, 0) != 0 && errno == EPERM;
  return by_list && by_argument;
}

static uint32_t layers;

uint32_t CConfine_confine(const struct CConfine_settings *settings) {
  uint32_t had = 0;
  int alone = is_alone();
  if (getsid(0) == getpid() || setsid() >= 0) had |= CCONFINE_SESSION;
  if (close_others(settings->kept, settings->kept_count) == 0) had |= CCONFINE_DESCRIPTORS;
  if (lower_all(&settings->limits) == 0) had |= CCONFINE_LIMITS;
  end_first();
  change_user(settings->user, settings->group);
  /* Otherwise /proc/self belongs to root. */
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (!is_root()) had |= CCONFINE_USER;
  if (alone && CConfine_enterNamespaces() == 0) {
    had |= CCONFINE_NAMESPACES;
    if (settings->limits.processes && lower(RLIMIT_NPROC, settings->limits.processes) != 0) had &= ~(uint32_t)CCONFINE_LIMITS;
  }
  int dropped = drop_capabilities();
  /* After the change of the user, which clears the signal. */
  end_with(settings->parent);
  /* An ordinary user may install a filter only with this flag. */
  int plain = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (alone && dropped == 0 && plain == 0) had |= CCONFINE_PRIVILEGES;
  if (alone && CConfine_wallFiles(settings->folder, settings->readable) == 0 && is_walled()) had |= CCONFINE_FILES;
  if (CConfine_filterCalls(settings->profile) == 0 && is_filtered(getppid())) had |= CCONFINE_CALLS;
  CConfine_forgetRefusals();
  layers = had;
  return had;
}

uint32_t CConfine_layers(void) { return layers; }

const char *CConfine_layerName(uint32_t layer) {
  switch (layer) {
    case CCONFINE_CALLS: return "a filter of system calls (seccomp)";
    case CCONFINE_FILES: return "a wall around files (Landlock)";
    case CCONFINE_PRIVILEGES: return "no privileges";
    case CCONFINE_LIMITS: return "limits";
    case CCONFINE_DESCRIPTORS: return "no other descriptors";
    case CCONFINE_USER: return "another user than root";
    case CCONFINE_SESSION: return "a session of its own";
    case CCONFINE_NAMESPACES: return "namespaces of its own";
    default: return NULL;
  }
}
