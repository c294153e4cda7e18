#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

static int write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = (ssize_t)strlen(text), written = write(file, text, (size_t)length);
  close(file);
  return written == length ? 0 : -1;
}

/* Enters new namespaces in which this user and group keep their numbers. */
static int enter(int namespaces) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
  snprintf(groups, sizeof groups, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
  if (unshare(namespaces) != 0) return -1;
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return write_text("/proc/self/setgroups", "deny") || write_text("/proc/self/uid_map", users) ||
                 write_text("/proc/self/gid_map", groups)
             ? -1
             : 0;
}

int CConfine_enterNamespaces(void) {
  /* First tried in a copy: a failure after unshare() would leave this process without a user that may create files. */
  pid_t copy = fork();
  if (copy < 0) return -1;
  if (copy == 0) _exit(enter(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status;
  pid_t ended;
  do {
    ended = waitpid(copy, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != copy || status != 0) {
    errno = EPERM;
    return -1;
  }
  return enter(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
}
