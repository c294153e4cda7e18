#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* The rights as numbers: the headers may be older than the kernel. */
enum {
  EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_FOLDER = 1 << 3, REMOVE_FOLDER = 1 << 4, REMOVE_FILE = 1 << 5,
  MAKE_FOLDER = 1 << 7, MAKE_FILE = 1 << 8, MAKE_LINK = 1 << 12, MOVE = 1 << 13, TRUNCATE = 1 << 14,
  OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE,
  READ = READ_FILE | READ_FOLDER,
  /* Without devices, sockets, FIFOs, and execution. */
  CHANGE = READ | WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | MAKE_LINK | MOVE | TRUNCATE
};

/* The struct of kernels with version 6 of Landlock.  Older kernels accept it if the members they do not know are 0. */
struct handled {
  uint64_t files, network, scope;
};

/* All rights that a version knows. */
static struct handled all_of(int version) {
  struct handled handled = {.files = (1 << 13) - 1};
  if (version >= 2) handled.files |= MOVE;
  if (version >= 3) handled.files |= TRUNCATE;
  if (version >= 4) handled.network = 3; /* bind and connect of TCP */
  if (version >= 5) handled.files |= 1 << 15; /* ioctl of devices */
  if (version >= 6) handled.scope = 3; /* abstract sockets of others, signals to others */
  return handled;
}

struct wall {
  int rules;
  uint64_t known;
};

static int allow(const struct wall *wall, const char *path, uint64_t access) {
  int place = open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return -1;
  struct stat status;
  if (fstat(place, &status) == 0 && !S_ISDIR(status.st_mode)) access &= OF_FILES;
  struct landlock_path_beneath_attr below = {.allowed_access = access & wall->known, .parent_fd = place};
  int done = (int)syscall(SYS_landlock_add_rule, wall->rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
  close(place);
  return done;
}

/* Allows the folder of a mapped library, because other libraries of the same run time are in it. */
static int allow_beside(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  char folder[PATH_MAX];
  const char *slash = strrchr(info->dlpi_name, '/');
  size_t length = slash ? (size_t)(slash - info->dlpi_name) : 0;
  if (info->dlpi_name[0] != '/' || length == 0 || length >= sizeof folder) return 0;
  memcpy(folder, info->dlpi_name, length);
  folder[length] = 0;
  allow(context, folder, READ);
  return 0;
}

/* Allows /proc/self.  The rule applies to the kernel's object of this folder, which exists only as long as it is in use, so the
 * descriptor stays open.  Access through links out of the folder (fd, cwd, root) is checked at their targets. */
static int allow_own_process(const struct wall *wall) {
  int place = open("/proc/self", O_PATH | O_CLOEXEC);
  struct landlock_path_beneath_attr below = {.allowed_access = READ, .parent_fd = place};
  return place < 0 ? -1 : (int)syscall(SYS_landlock_add_rule, wall->rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
}

const char *const CConfine_libraries[] = {
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/openssl.cnf",
    "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/i18n", "/dev/random", "/dev/urandom", NULL};
const char *const CConfine_sinks[] = {"/dev/null", "/dev/zero", "/dev/full", NULL};

/* The files of processes.  A worker may read them only if its launcher mounted /proc for its namespace, because all others have the
 * processes of the host. */
static int allow_processes(const struct wall *wall, enum CConfine_profile profile, int has_own_root) {
  if (profile == CCONFINE_HARNESS) return allow_own_process(wall);
  return has_own_root ? allow(wall, "/proc", READ) : 0;
}

int CConfine_wallFiles(const struct CConfine_settings *settings, int has_own_root) {
  int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return CConfine_miss(CCONFINE_FILES, "landlock_create_ruleset()", errno);
  struct handled handled = all_of(version);
  struct wall wall = {.known = handled.files};
  wall.rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (wall.rules < 0) return CConfine_miss(CCONFINE_FILES, "landlock_create_ruleset()", errno);
  for (const char *const *path = CConfine_libraries; *path; path++) allow(&wall, *path, READ);
  for (const char *const *path = CConfine_sinks; *path; path++) allow(&wall, *path, READ_FILE | WRITE_FILE | TRUNCATE);
  for (const char *path = settings->readable; path && *path; path += strlen(path) + 1) allow(&wall, path, READ);
  dl_iterate_phdr(allow_beside, &wall);
  const char *step = NULL;
  if (allow_processes(&wall, settings->profile, has_own_root) != 0) step = "a rule for /proc";
  else if (settings->folder && allow(&wall, settings->folder, CHANGE) != 0) step = "a rule for the folder of the process";
  else if (syscall(SYS_landlock_restrict_self, wall.rules, 0) != 0) step = "landlock_restrict_self()";
  int code = errno;
  close(wall.rules);
  return step ? CConfine_miss(CCONFINE_FILES, step, code) : 0;
}
