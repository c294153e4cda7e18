#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

void CConfine_look(struct CConfine_place *place) {
  static const char *const names[CCONFINE_NAMESPACE_COUNT] = {"user", "net", "ipc", "uts", "mnt", "pid", "cgroup"};
  memset(place, 0, sizeof *place);
  for (size_t index = 0; index < CCONFINE_NAMESPACE_COUNT; index++) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[index]);
    if (stat(path, &status) == 0) place->namespaces[index] = status.st_ino;
  }
  struct stat root;
  if (stat("/", &root) != 0) return;
  place->root_device = root.st_dev;
  place->root_file = root.st_ino;
}

int CConfine_becomeUser(uint32_t user, uint32_t group) {
  if (geteuid() != 0 || user == 0) return 0;
  return setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user) ? -1 : 0;
}

int CConfine_dropCapabilities(void) {
  /* The sets of the process, and the bounding set, which limits exec. */
  for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0}, left[_LINUX_CAPABILITY_U32S_3] = {0};
  if (syscall(SYS_capset, &header, none) != 0) return CConfine_miss(CCONFINE_PRIVILEGES, "capset()", errno);
  if (syscall(SYS_capget, &header, left) != 0) return CConfine_miss(CCONFINE_PRIVILEGES, "capget()", errno);
  return memcmp(none, left, sizeof none) == 0 ? 0 : CConfine_miss(CCONFINE_PRIVILEGES, "capabilities are left", 0);
}

static int write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = (ssize_t)strlen(text), written = write(file, text, (size_t)length);
  int code = errno;
  close(file);
  errno = written < 0 ? code : EIO;
  return written == length ? 0 : -1;
}

/* In a new user namespace, gives this user and group the numbers that they have outside. */
static int keep_numbers(uint32_t user, uint32_t group) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", (unsigned)user, (unsigned)user);
  snprintf(groups, sizeof groups, "%u %u 1", (unsigned)group, (unsigned)group);
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return write_text("/proc/self/setgroups", "deny") || write_text("/proc/self/uid_map", users) ||
                 write_text("/proc/self/gid_map", groups)
             ? -1
             : 0;
}

/* Enters new namespaces.  Returns -1 also if the process is in them and its numbers could not be kept. */
static int enter(int namespaces, int *is_apart) {
  uid_t user = geteuid();
  gid_t group = getegid();
  *is_apart = unshare(namespaces) == 0;
  return *is_apart ? keep_numbers(user, group) : -1;
}

/* Tries it in a copy: a failure after unshare() would leave this process without a user that may create files. */
static int can_enter(void) {
  int is_apart;
  pid_t copy = fork();
  if (copy < 0) return 0;
  if (copy == 0) _exit(enter(CLONE_NEWUSER, &is_apart) == 0 ? 0 : errno > 0 && errno < 256 ? errno : EPERM);
  int status;
  pid_t ended;
  do {
    ended = waitpid(copy, &status, 0);
  } while (ended < 0 && errno == EINTR);
  errno = ended == copy && WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
  return errno == 0;
}

int CConfine_enterNamespaces(const struct CConfine_settings *settings) {
  const struct CConfine_launch *launch = settings->launch;
  int is_apart;
  if (launch) {
    const struct CConfine_failure *why = &launch->namespaces;
    if (!(launch->layers & CCONFINE_NAMESPACES)) return CConfine_miss(CCONFINE_NAMESPACES, why->step, why->code);
    /* All workers of a launcher share its namespaces.  The kernel counts threads by user namespace, so each worker needs one of its
     * own: otherwise one worker could use up the threads of all.  The numbers cannot be kept if the user is root, and matter little:
     * the kernel compares those of the host when it opens a file. */
    if (enter(CLONE_NEWUSER, &is_apart) == 0 || is_apart) return 0;
    return CConfine_miss(CCONFINE_NAMESPACES, "unshare() of the user namespace", errno);
  }
  if (!can_enter()) return CConfine_miss(CCONFINE_NAMESPACES, "unshare() of the user namespace", errno);
  if (enter(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS, &is_apart) == 0) return 0;
  return CConfine_miss(CCONFINE_NAMESPACES, "unshare() of namespaces", errno);
}

int32_t CConfine_forkApart(uint32_t layers) {
  unsigned long flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (layers & CCONFINE_ROOT) flags |= CLONE_NEWNS;
  return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int fail(struct CConfine_failure *why, const char *step) {
  why->code = errno;
  snprintf(why->step, sizeof why->step, "%s", step);
  return -1;
}

int CConfine_settle(uint32_t layers, uint32_t user, uint32_t group, const char *readable, struct CConfine_failure *why) {
  memset(why, 0, sizeof *why);
  if (keep_numbers(user, group) != 0) return fail(why, "the map of the user namespace");
  if (layers & CCONFINE_ROOT && CConfine_makeRoot(readable, why) != 0) return -1;
  if (CConfine_dropCapabilities() != 0) return fail(why, "the drop of capabilities");
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : fail(why, "PR_SET_NO_NEW_PRIVS");
}
