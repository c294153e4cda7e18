/* Changes and reads files of other owners. */
#include "escape.h"

#include <dirent.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/xattr.h>

static int writes(void) { return opens(mine("file"), O_WRONLY); }
static int appends(void) { return opens(mine("file"), O_WRONLY | O_APPEND); }
static int truncates_by_opening(void) { return opens(mine("file"), O_RDONLY | O_TRUNC); }
static int truncates(void) { return truncate(mine("file"), 0) == 0; }
static int creates(void) { return opens(mine("new"), O_CREAT | O_EXCL | O_WRONLY); }
static int creates_unnamed(void) { return opens(OUTSIDE, O_TMPFILE | O_RDWR); }
static int unlinks(void) { return unlink(mine("file")) == 0; }
static int removes_folder(void) { return rmdir(mine("folder")) == 0; }
static int renames(void) {
  char to[4096];
  snprintf(to, sizeof to, "%s-moved", mine("file"));
  return rename(mine("file"), to) == 0;
}
static int exchanges(void) {
  char other[4096];
  snprintf(other, sizeof other, "%s", mine("folder"));
  return renameat2(AT_FDCWD, mine("file"), AT_FDCWD, other, RENAME_EXCHANGE) == 0;
}
static int moves_here(void) { return rename(mine("file"), "taken") == 0; }
static int links(void) {
  char to[4096];
  snprintf(to, sizeof to, "%s-linked", mine("file"));
  return link(mine("file"), to) == 0;
}
static int links_here(void) { return link(mine("file"), "linked") == 0; }
static int links_softly(void) { return symlink("/", mine("link")) == 0; }
static int makes_folder(void) { return mkdir(mine("new-folder"), 0700) == 0; }
static int makes_pipe(void) { return mkfifo(mine("pipe"), 0600) == 0; }
static int makes_node(void) { return mknod(mine("node"), S_IFREG | 0600, 0) == 0; }
static int makes_device(void) { return mknod(mine("device"), S_IFCHR | 0600, 0x103 /* null */) == 0; }
static int changes_mode(void) { return chmod(mine("file"), 0600) == 0; }
static int changes_mode_at(void) { return fchmodat(AT_FDCWD, mine("file"), 0600, 0) == 0; }
static int changes_mode_of_path(void) {
  int file = open(mine("file"), O_PATH | O_CLOEXEC);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return file >= 0 && chmod(path, 0600) == 0;
}
static int changes_mode_newly(void) { return syscall(452 /* fchmodat2 */, AT_FDCWD, mine("file"), 0600, 0) == 0; }
static int changes_owner(void) { return chown(mine("file"), getuid(), getgid()) == 0; }
static int changes_owner_of_link(void) { return lchown(mine("file"), getuid(), getgid()) == 0; }
static int changes_times(void) { return utimensat(AT_FDCWD, mine("file"), NULL, 0) == 0; }
static int sets_attribute(void) { return setxattr(mine("file"), "user.escape", "x", 1, 0) == 0; }
static int removes_attribute(void) { return removexattr(mine("file"), "user.none") == 0 || errno == ENODATA; }
static int reads_outside(void) { return reads(mine("file")); }
static int lists_outside(void) { return reads(OUTSIDE); }
static int reads_above(void) { return reads(".."); }
static int reads_top(void) { return reads("/"); }
static int reads_users(void) { return reads("/etc/passwd"); }
static int reads_passwords(void) { return reads("/etc/shadow"); }
static int reads_host_name(void) { return reads("/etc/hostname") || reads("/etc/hosts"); }
static int reads_home(void) { return reads("/root") || reads("/home"); }
static int reads_temporary(void) { return reads("/tmp"); }
static int reads_by_link(void) { return symlink("/etc/passwd", "link-out") == 0 && reads("link-out"); }
static int reads_by_own_root(void) { return reads("/proc/self/root/etc/passwd"); }
static int reads_by_own_folder(void) { return reads("/proc/self/cwd/../../etc/passwd") || reads("/proc/self/cwd/.."); }
static int reads_host_status(void) { return reads(of_target("status")); }
static int reads_host_memory(void) { return opens(of_target("mem"), O_RDONLY); }
static int reads_host_maps(void) { return reads(of_target("maps")); }
static int reads_host_environment(void) { return reads(of_target("environ")); }
static int reads_host_descriptors(void) { return reads(of_target("fd")); }
static int reads_host_link(void) {
  char path[4096];
  return readlink(of_target("exe"), path, sizeof path) > 0;
}
static int reads_first_process(void) { return reads("/proc/1/cmdline") || reads("/proc/1/status"); }
/* A worker has a /proc of its own, in which it sees only itself. */
static int lists_processes(void) {
  DIR *processes = opendir("/proc");
  int others = 0;
  for (struct dirent *entry; processes && (entry = readdir(processes));) {
    int number = atoi(entry->d_name);
    others += number > 0 && number != getpid();
  }
  if (processes) closedir(processes);
  return others > 0;
}
static int reads_machine(void) { return reads("/proc/cpuinfo") || reads("/proc/meminfo") || reads("/proc/version"); }
static int reads_settings(void) { return reads("/proc/sys/kernel/hostname"); }
static int lists_devices(void) { return reads("/dev"); }
static int lists_system(void) { return reads("/sys") || reads("/sys/class"); }
static int reads_groups(void) { return reads("/sys/fs/cgroup"); }
static int opens_terminal(void) { return opens("/dev/tty", O_RDWR | O_NOCTTY) || opens("/dev/ptmx", O_RDWR | O_NOCTTY); }
static int writes_shared(void) {
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/carabiner-escape-%d", (int)getpid());
  int done = opens(path, O_CREAT | O_EXCL | O_WRONLY);
  if (done) unlink(path);
  return done;
}
static int writes_own_score(void) { return opens("/proc/self/oom_score_adj", O_WRONLY); }
static int writes_own_memory(void) { return opens("/proc/self/mem", O_RDWR); }
static int watches(void) {
  int watch = inotify_init1(IN_CLOEXEC);
  return watch >= 0 && inotify_add_watch(watch, OUTSIDE, IN_ALL_EVENTS) >= 0;
}
static int takes_handle(void) {
  struct { struct file_handle head; unsigned char room[128]; } handle = {.head.handle_bytes = 128};
  int mount;
  return name_to_handle_at(AT_FDCWD, mine("file"), &handle.head, &mount, 0) == 0;
}
static int leases(void) {
  int folder = open(OUTSIDE, O_RDONLY | O_CLOEXEC);
  return folder >= 0 && fcntl(folder, F_NOTIFY, 0) == 0;
}

ESCAPES({69, "open for writing", writes, 0}, {70, "open for appending", appends, 0}, {71, "O_TRUNC", truncates_by_opening, 0},
        {72, "truncate", truncates, 0}, {73, "O_CREAT", creates, 0}, {74, "O_TMPFILE", creates_unnamed, 0}, {75, "unlink", unlinks, 0},
        {76, "rmdir", removes_folder, 0}, {77, "rename", renames, 0}, {78, "RENAME_EXCHANGE", exchanges, 0},
        {79, "rename into its folder", moves_here, 0}, {80, "link", links, 0}, {81, "link into its folder", links_here, 0},
        {82, "symlink", links_softly, 0}, {83, "mkdir", makes_folder, 0}, {84, "mkfifo", makes_pipe, 0}, {85, "mknod", makes_node, 0},
        {86, "mknod of a device", makes_device, 0}, {87, "chmod", changes_mode, 0}, {88, "fchmodat", changes_mode_at, 0},
        {89, "chmod of a descriptor", changes_mode_of_path, 0}, {90, "fchmodat2", changes_mode_newly, 0}, {91, "chown", changes_owner, 0},
        {92, "lchown", changes_owner_of_link, 0}, {93, "utimensat", changes_times, 0}, {94, "setxattr", sets_attribute, 0},
        {95, "removexattr", removes_attribute, 0}, {96, "a file outside", reads_outside, 0}, {97, "a folder outside", lists_outside, 0},
        {98, "the folder above", reads_above, 0}, {99, "/", reads_top, 0}, {100, "/etc/passwd", reads_users, 0},
        {101, "/etc/shadow", reads_passwords, 0}, {102, "/etc/hostname", reads_host_name, 0}, {103, "homes", reads_home, 0},
        {104, "/tmp", reads_temporary, 0}, {105, "/etc/passwd by a link", reads_by_link, 0}, {106, "/proc/self/root", reads_by_own_root, 0},
        {107, "/proc/self/cwd", reads_by_own_folder, 0}, {108, "the host's status", reads_host_status, 0},
        {109, "the host's memory", reads_host_memory, 0}, {110, "the host's maps", reads_host_maps, 0},
        {111, "the host's environment", reads_host_environment, 0}, {112, "the host's descriptors", reads_host_descriptors, 0},
        {113, "the host's program", reads_host_link, 0}, {114, "process 1", reads_first_process, 0}, {115, "processes in /proc", lists_processes, 0},
        {116, "the machine", reads_machine, 0}, {117, "settings of the kernel", reads_settings, 0}, {118, "/dev", lists_devices, 0},
        {119, "/sys", lists_system, 0}, {120, "cgroups", reads_groups, 0}, {121, "a terminal", opens_terminal, 0},
        {122, "/dev/shm", writes_shared, 0}, {123, "oom_score_adj", writes_own_score, 0}, {124, "/proc/self/mem", writes_own_memory, 0},
        {125, "inotify", watches, 0}, {126, "name_to_handle_at", takes_handle, 0}, {127, "F_NOTIFY", leases, 0})
