#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* A path that exists in the new root: its place without links, and the link that leads there, if it was one. */
struct path {
  char *named, *real;
  int is_folder, is_device;
};

enum { MOST = 512 };
struct paths {
  struct path all[MOST];
  size_t count;
};

/* The host's root, while the new one is made. */
#define HOST "/host"

/* Of mount_setattr(): older headers lack it. */
enum { READ_ONLY = 1, NO_SUID = 2, NO_DEVICES = 4, RECURSIVE = 0x8000 };
struct attributes {
  uint64_t set, clear, propagation, user_namespace;
};

static int fail(struct CConfine_failure *why, const char *step, const char *path) {
  why->code = errno;
  snprintf(why->step, sizeof why->step, "%s %.48s", step, path);
  return -1;
}

/* The whole host, and the files of its processes, are not given to a worker. */
static int is_too_much(const char *path) {
  return strcmp(path, "/") == 0 || strcmp(path, "/proc") == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Adds a path if it exists. */
static int add(struct paths *paths, const char *named, struct CConfine_failure *why) {
  char *real = realpath(named, NULL);
  struct stat status;
  if (!real || stat(real, &status) != 0) {
    free(real);
    return 0;
  }
  char *copy = NULL;
  errno = is_too_much(real) ? EINVAL : paths->count == MOST ? E2BIG : ENOMEM;
  if (!is_too_much(real) && paths->count < MOST) copy = strdup(named);
  if (!copy) {
    free(real);
    return fail(why, "access to", named);
  }
  paths->all[paths->count++] = (struct path){copy, real, S_ISDIR(status.st_mode), S_ISCHR(status.st_mode)};
  return 0;
}

static int by_length(const void *one, const void *other) {
  size_t first = strlen(((const struct path *)one)->real), second = strlen(((const struct path *)other)->real);
  return first < second ? -1 : first > second;
}

static int collect(struct paths *paths, const char *readable, struct CConfine_failure *why) {
  for (const char *const *path = CConfine_libraries; *path; path++) {
    if (add(paths, *path, why) != 0) return -1;
  }
  for (const char *const *path = CConfine_sinks; *path; path++) {
    if (add(paths, *path, why) != 0) return -1;
  }
  for (const char *path = readable; path && *path; path += strlen(path) + 1) {
    if (*path != '/') continue;
    if (add(paths, path, why) != 0) return -1;
  }
  /* A folder is before what is in it. */
  qsort(paths->all, paths->count, sizeof *paths->all, by_length);
  return 0;
}

static void forget(struct paths *paths) {
  for (size_t index = 0; index < paths->count; index++) {
    free(paths->all[index].named);
    free(paths->all[index].real);
  }
}

/* Whether a path is in one that comes before it. */
static int is_covered(const struct paths *paths, size_t index) {
  const char *path = paths->all[index].real;
  for (size_t before = 0; before < index; before++) {
    size_t length = strlen(paths->all[before].real);
    if (strncmp(path, paths->all[before].real, length) == 0 && (path[length] == '/' || path[length] == 0)) return 1;
  }
  return 0;
}

/* Makes the folders above a path. */
static int make_above(const char *path) {
  char text[PATH_MAX];
  if (strlen(path) >= sizeof text) return errno = ENAMETOOLONG, -1;
  strcpy(text, path);
  for (char *slash = strchr(text + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(text, 0755) != 0 && errno != EEXIST) return -1;
    *slash = '/';
  }
  return 0;
}

static int make_empty(const struct path *path) {
  if (make_above(path->real) != 0) return -1;
  if (path->is_folder) return mkdir(path->real, 0755) == 0 || errno == EEXIST ? 0 : -1;
  int file = open(path->real, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
  return file < 0 ? -1 : close(file);
}

/* Gives the new root a part of the host's files, which cannot be written to through it. */
static int add_files(const struct path *path, struct CConfine_failure *why) {
  char from[PATH_MAX];
  errno = ENAMETOOLONG;
  if (snprintf(from, sizeof from, "%s%s", HOST, path->real) >= (int)sizeof from) return fail(why, "mount() of", path->real);
  if (make_empty(path) != 0) return fail(why, "mkdir() of", path->real);
  /* In a user namespace, mounts below a folder cannot be left out. */
  if (mount(from, path->real, NULL, MS_BIND | MS_REC, NULL) != 0) return fail(why, "mount() of", path->real);
  struct attributes attributes = {.set = READ_ONLY | NO_SUID | (path->is_device ? 0 : NO_DEVICES)};
  if (syscall(442 /* mount_setattr */, AT_FDCWD, path->real, RECURSIVE, &attributes, sizeof attributes) != 0) {
    return fail(why, "mount_setattr() of", path->real);
  }
  return 0;
}

static int add_link(const struct path *path, struct CConfine_failure *why) {
  if (strcmp(path->named, path->real) == 0) return 0;
  /* It exists if it is in one of the folders, which are read-only. */
  if ((make_above(path->named) != 0 || symlink(path->real, path->named) != 0) && errno != EEXIST && errno != EROFS) {
    return fail(why, "symlink() of", path->named);
  }
  return 0;
}

static int fill(const struct paths *paths, struct CConfine_failure *why) {
  for (size_t index = 0; index < paths->count; index++) {
    if (!is_covered(paths, index) && add_files(&paths->all[index], why) != 0) return -1;
  }
  for (size_t index = 0; index < paths->count; index++) {
    if (add_link(&paths->all[index], why) != 0) return -1;
  }
  /* While the host's /proc is there: the kernel allows a new one only beside one that hides nothing. */
  if (mkdir("/proc", 0555) != 0 && errno != EEXIST) return fail(why, "mkdir() of", "/proc");
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=ptraceable,subset=pid") != 0) {
    return fail(why, "mount() of", "/proc");
  }
  return 0;
}

/* Makes a file system in memory the root, with the host's root in a folder. */
static int turn(struct CConfine_failure *why) {
  /* Any folder does: below HOST it has its files again. */
  const char *base = access("/tmp", X_OK) == 0 ? "/tmp" : "/usr";
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return fail(why, "mount() of", "/");
  if (mount("worker", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m,nr_inodes=16384") != 0) return fail(why, "mount() of", base);
  if (chdir(base) != 0 || mkdir("host", 0700) != 0) return fail(why, "mkdir() in", base);
  if (syscall(SYS_pivot_root, ".", "host") != 0) return fail(why, "pivot_root() to", base);
  return chdir("/") == 0 ? 0 : fail(why, "chdir() to", "/");
}

int CConfine_makeRoot(const char *readable, struct CConfine_failure *why) {
  static struct paths paths;
  umask(022);
  int done = collect(&paths, readable, why);
  if (done == 0) done = turn(why);
  if (done == 0) done = fill(&paths, why);
  forget(&paths);
  if (done != 0) return -1;
  if (umount2(HOST, MNT_DETACH) != 0 || rmdir(HOST) != 0) return fail(why, "umount2() of", HOST);
  struct attributes attributes = {.set = READ_ONLY | NO_SUID | NO_DEVICES};
  if (syscall(442 /* mount_setattr */, AT_FDCWD, "/", 0, &attributes, sizeof attributes) != 0) return fail(why, "mount_setattr() of", "/");
  return 0;
}
