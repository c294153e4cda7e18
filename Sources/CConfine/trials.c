#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* Each layer is tested by something that it forbids.  A try that succeeds in spite of it does no harm. */

int CConfine_tryCalls(void) {
  int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (local >= 0) close(local);
  if (local >= 0 || errno != ENOSYS) return CConfine_miss(CCONFINE_CALLS, "a call that is not listed was not refused", 0);
  pid_t parent = getppid();
  if (syscall(SYS_tgkill, parent, parent, 0) == 0 || errno != EPERM) {
    return CConfine_miss(CCONFINE_CALLS, "a call with a forbidden argument was not refused", 0);
  }
  struct CConfine_refusal first;
  return CConfine_refusals(&first, 1) ? 0 : CConfine_miss(CCONFINE_CALLS, "a refused call was not noted", 0);
}

int CConfine_tryFiles(void) {
  int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root >= 0) close(root);
  return root < 0 && errno == EACCES ? 0 : CConfine_miss(CCONFINE_FILES, "the folder / could be opened", 0);
}

int CConfine_tryPrivileges(void) {
  if (chroot("/") == 0) return CConfine_miss(CCONFINE_PRIVILEGES, "chroot() was not refused", 0);
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return CConfine_miss(CCONFINE_PRIVILEGES, "exec may give privileges", 0);
  return 0;
}

/* Whether a file can grow beyond a size. */
static int can_grow(uint64_t size) {
  int file = memfd_create("limit", MFD_CLOEXEC);
  if (file < 0) return 0;
  struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
  int is_ignored = sigaction(SIGXFSZ, &ignored, &before) == 0;
  int grew = is_ignored && pwrite(file, "x", 1, (off_t)size) == 1;
  if (is_ignored) sigaction(SIGXFSZ, &before, NULL);
  close(file);
  return grew;
}

static int can_map(uint64_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  munmap(memory, size);
  return 1;
}

int CConfine_tryLimits(const struct CConfine_settings *settings) {
  const struct CConfine_limits *limits = &settings->limits;
  struct rlimit more = {.rlim_cur = 1, .rlim_max = 1};
  if (setrlimit(RLIMIT_CORE, &more) == 0) return CConfine_miss(CCONFINE_LIMITS, "a limit could be raised", 0);
  if (limits->data && can_map(limits->data)) return CConfine_miss(CCONFINE_LIMITS, "there was more memory than allowed", 0);
  if ((limits->file || settings->profile == CCONFINE_WORKER) && can_grow(limits->file)) {
    return CConfine_miss(CCONFINE_LIMITS, "a file grew more than allowed", 0);
  }
  int beyond = limits->descriptors && settings->kept_count ? fcntl(settings->kept[0], F_DUPFD_CLOEXEC, (int)limits->descriptors) : -1;
  if (beyond >= 0) close(beyond);
  return beyond < 0 ? 0 : CConfine_miss(CCONFINE_LIMITS, "there were more descriptors than allowed", 0);
}

static int is_kept(const struct CConfine_settings *settings, int descriptor) {
  for (size_t index = 0; index < settings->kept_count; index++) {
    if (settings->kept[index] == descriptor) return 1;
  }
  return 0;
}

int CConfine_tryDescriptors(const struct CConfine_settings *settings) {
  DIR *open_ones = opendir("/proc/self/fd");
  /* Without /proc the answer of close_range() has to be enough. */
  if (!open_ones) return 0;
  int others = 0;
  for (struct dirent *entry; (entry = readdir(open_ones));) {
    if (entry->d_name[0] == '.') continue;
    int descriptor = atoi(entry->d_name);
    others += descriptor != dirfd(open_ones) && !is_kept(settings, descriptor);
  }
  closedir(open_ones);
  return others == 0 ? 0 : CConfine_miss(CCONFINE_DESCRIPTORS, "another descriptor is open", 0);
}

int CConfine_tryUser(void) {
  uid_t real, effective, saved;
  if (getresuid(&real, &effective, &saved) != 0) return CConfine_miss(CCONFINE_USER, "getresuid()", errno);
  if (real == 0 || effective == 0 || saved == 0) return CConfine_miss(CCONFINE_USER, "the user is root", 0);
  return seteuid(0) != 0 ? 0 : CConfine_miss(CCONFINE_USER, "the user could become root", 0);
}

int CConfine_tryNamespaces(const struct CConfine_settings *settings, const struct CConfine_place *before) {
  /* In the order of CConfine_look().  The harness needs the mount, PID and cgroup namespaces of its host. */
  static const unsigned char is_of_harness[CCONFINE_NAMESPACE_COUNT] = {1, 1, 1, 1, 0, 0, 0};
  struct CConfine_place now;
  CConfine_look(&now);
  int has_root = settings->launch && settings->launch->layers & CCONFINE_ROOT;
  for (size_t index = 0; index < CCONFINE_NAMESPACE_COUNT; index++) {
    if (!settings->launch && !is_of_harness[index]) continue;
    /* The mount namespace belongs to the root, which is another layer. */
    if (index == 4 && !has_root) continue;
    if (now.namespaces[index] == 0 || now.namespaces[index] == before->namespaces[index]) {
      return CConfine_miss(CCONFINE_NAMESPACES, "a namespace is that of the host", 0);
    }
  }
  return 0;
}

int CConfine_tryRoot(const struct CConfine_settings *settings) {
  struct stat root, settings_of_kernel;
  if (stat("/", &root) != 0) return CConfine_miss(CCONFINE_ROOT, "stat() of the root", errno);
  if ((uint64_t)root.st_dev == settings->launch->outside.root_device && (uint64_t)root.st_ino == settings->launch->outside.root_file) {
    return CConfine_miss(CCONFINE_ROOT, "the root is that of the host", 0);
  }
  if (stat("/proc/sys", &settings_of_kernel) == 0) return CConfine_miss(CCONFINE_ROOT, "/proc is that of the host", 0);
  int file = open("/written", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code = errno;
  if (file >= 0) close(file);
  return file < 0 && code == EROFS ? 0 : CConfine_miss(CCONFINE_ROOT, "a file could be created in the root", 0);
}
