/* Changes the machine, or gains rights or resources beyond its limits. */
#include "escape.h"

#include <grp.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timex.h>

static int clones_with(unsigned long flags) {
  long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child > 0;
}
static int clones_user(void) { return clones_with(CLONE_NEWUSER); }
static int clones_network(void) { return clones_with(CLONE_NEWUSER | CLONE_NEWNET); }
static int clones_newly(void) {
  uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  long child = syscall(SYS_clone3, arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return child > 0;
}
static int unshares_user(void) { return unshare(CLONE_NEWUSER) == 0; }
static int unshares_mounts(void) { return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0; }
static int unshares_network(void) { return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0; }
static int unshares_folder(void) { return unshare(CLONE_FS) == 0; }
static int joins_namespace(void) {
  int space = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  return space >= 0 && setns(space, 0) == 0;
}
static int mounts(void) {
  if (mount("none", mine("folder"), "tmpfs", 0, "size=4k") != 0) return 0;
  umount2(mine("folder"), MNT_DETACH);
  return 1;
}
/* Nothing is mounted there, so a process with the right to unmount gets EINVAL. */
static int unmounts(void) { return umount2(mine("folder"), 0) == 0 || errno == EINVAL; }
static int pivots(void) { return syscall(SYS_pivot_root, mine("folder"), mine("folder")) == 0 || errno == EINVAL || errno == EBUSY; }
static int opens_filesystem(void) { return syscall(SYS_fsopen, "tmpfs", 0) >= 0; }
static int opens_tree(void) { return syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */) >= 0; }
static int changes_root(void) { return chroot(OUTSIDE) == 0; }
static int sets_clock(void) {
  struct timespec now;
  return clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_settime(CLOCK_REALTIME, &now) == 0;
}
/* Sets neither the time nor the zone. */
static int sets_time(void) { return syscall(SYS_settimeofday, NULL, NULL) == 0; }
static int adjusts(void) {
  struct timex now = {0};
  if (adjtimex(&now) < 0) return 0;
  now.modes = ADJ_TICK;
  return adjtimex(&now) >= 0;
}
static int adjusts_clock(void) {
  struct timex now = {0};
  if (clock_adjtime(CLOCK_REALTIME, &now) < 0) return 0;
  now.modes = ADJ_TICK;
  return clock_adjtime(CLOCK_REALTIME, &now) >= 0;
}
static int names_host(void) {
  char name[HOST_NAME_MAX + 1];
  return gethostname(name, sizeof name) == 0 && sethostname(name, strlen(name)) == 0;
}
static int names_domain(void) {
  char name[256];
  return getdomainname(name, sizeof name) == 0 && setdomainname(name, strlen(name)) == 0;
}
static int reads_log(void) { return klogctl(10 /* SYSLOG_ACTION_SIZE_BUFFER */, NULL, 0) > 0; }
static int reads_whole_log(void) {
  char text[256];
  return klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof text) >= 0;
}
/* The numbers are invalid, so a process with the right to restart the machine gets EINVAL. */
static int restarts(void) { return syscall(SYS_reboot, 0, 0, 0, NULL) == 0 || errno == EINVAL; }
static int removes_module(void) { return syscall(SYS_delete_module, "carabiner_no_such_module", O_NONBLOCK) == 0 || errno == ENOENT; }
static int inserts_module(void) { return syscall(SYS_init_module, NULL, 0ul, "") == 0 || errno == EFAULT || errno == ENOEXEC; }
static int swaps(void) { return syscall(SYS_swapoff, "/nonexistent-carabiner") == 0 || errno == ENOENT; }
static int reaches_ports(void) {
#if defined(__x86_64__)
  return syscall(SYS_ioperm, 0x80ul, 1ul, 1) == 0;
#else
  return 0;
#endif
}
static int makes_map(void) {
  union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  return syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map) >= 0;
}
static int handles_faults(void) { return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */) >= 0; }
static int adds_key(void) { return syscall(SYS_add_key, "user", "carabiner-escape", "x", 1ul, -1 /* of the thread */) >= 0; }
static int asks_keys(void) { return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -2 /* of the process */, 1) >= 0; }
static int requests_key(void) { return syscall(SYS_request_key, "user", "carabiner-none", NULL, 0) >= 0 || errno == ENOKEY; }
static int watches_filesystem(void) { return syscall(SYS_fanotify_init, 0, O_RDONLY) >= 0 || syscall(SYS_fanotify_init, 0x200, O_RDONLY) >= 0; }
static int sets_quota(void) { return syscall(SYS_quotactl, 0x800001 << 8, NULL, 0, NULL) == 0 || errno == ENODEV || errno == ENOTBLK; }
static int changes_personality(void) { return personality(ADDR_NO_RANDOMIZE) >= 0; }
static int loads_segments(void) {
#if defined(__x86_64__)
  char table[16];
  return syscall(SYS_modify_ldt, 0, table, sizeof table) >= 0;
#else
  return 0;
#endif
}
static int becomes_root(void) { return setuid(0) == 0; }
static int becomes_root_really(void) { return setresuid(0, 0, 0) == 0; }
static int joins_root(void) { return setgid(0) == 0 || setresgid(0, 0, 0) == 0; }
static int sets_groups(void) { return setgroups(0, NULL) == 0; }
static int acts_as_another(void) {
  uid_t now = (uid_t)setfsuid((uid_t)-1);
  setfsuid(now + 1);
  return (uid_t)setfsuid((uid_t)-1) != now;
}
static int has_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {0};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].permitted | data[1].permitted) != 0;
}
static int sets_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {0};
  return syscall(SYS_capget, &header, data) == 0 && syscall(SYS_capset, &header, data) == 0;
}
static int raises_limit(void) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  return setrlimit(RLIMIT_DATA, &limit) == 0 || setrlimit(RLIMIT_CORE, &limit) == 0;
}
static int takes_memory(void) {
  char *memory = mmap(NULL, TOO_MUCH_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  memory[0] = 1;
  munmap(memory, TOO_MUCH_MEMORY);
  return 1;
}
static int takes_shared_memory(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}
static int takes_stack(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) != MAP_FAILED;
}
static int takes_large_pages(void) {
  int memory = (int)syscall(SYS_memfd_create, "escape", 4 /* MFD_HUGETLB */);
  return memory >= 0;
}
static int takes_secret_memory(void) { return syscall(SYS_memfd_secret, 0) >= 0; }
static int writes_large_file(void) {
  signal(SIGXFSZ, SIG_IGN);
  int file = open("large", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), done = file >= 0 && ftruncate(file, 1l << 30) == 0;
#ifdef PROGRAM
  unlink("large");
#endif
  return done;
}
static int opens_many(void) {
  for (int count = 0; count < TOO_MANY_DESCRIPTORS; count++)
    if (fcntl(0, F_DUPFD, 0) < 0) return 0;
  return 1;
}
/* Threads wait for it, and end. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static void *waits(void *nothing) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return nothing;
}
static int starts_threads(void) {
  static pthread_t threads[TOO_MANY_THREADS];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  int count = 0;
  pthread_mutex_lock(&gate);
  while (count < TOO_MANY_THREADS && pthread_create(&threads[count], &small, waits, NULL) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (int index = 0; index < count; index++) pthread_join(threads[index], NULL);
  return count == TOO_MANY_THREADS;
}
static int syncs(void) { return syscall(SYS_syncfs, 0) == 0; }

ESCAPES({128, "clone of a user namespace", clones_user, 0}, {129, "clone of a network namespace", clones_network, 0},
        {130, "clone3", clones_newly, 0}, {131, "unshare of a user namespace", unshares_user, 0},
        {132, "unshare of mounts", unshares_mounts, 0}, {133, "unshare of a network", unshares_network, 0},
        {134, "unshare of the folder", unshares_folder, 0}, {135, "setns", joins_namespace, 0}, {136, "mount", mounts, 0},
        {137, "umount2", unmounts, 0}, {138, "pivot_root", pivots, 0}, {139, "fsopen", opens_filesystem, 0}, {140, "open_tree", opens_tree, 0},
        {141, "chroot", changes_root, 0}, {142, "clock_settime", sets_clock, 1}, {143, "settimeofday", sets_time, 0},
        {144, "adjtimex", adjusts, 1}, {145, "clock_adjtime", adjusts_clock, 1}, {146, "sethostname", names_host, 0},
        {147, "setdomainname", names_domain, 0}, {148, "syslog", reads_log, 0}, {149, "syslog reads", reads_whole_log, 0},
        {150, "reboot", restarts, 0}, {151, "delete_module", removes_module, 0}, {152, "init_module", inserts_module, 0},
        {153, "swapoff", swaps, 0}, {154, "ioperm", reaches_ports, 0}, {155, "bpf", makes_map, 0}, {156, "userfaultfd", handles_faults, 0},
        {157, "add_key", adds_key, 0}, {158, "keyctl", asks_keys, 0}, {159, "request_key", requests_key, 0},
        {160, "fanotify", watches_filesystem, 0}, {161, "quotactl", sets_quota, 0}, {162, "personality", changes_personality, 0},
        {163, "modify_ldt", loads_segments, 0}, {164, "setuid", becomes_root, 0}, {165, "setresuid", becomes_root_really, 0},
        {166, "setgid", joins_root, 0}, {167, "setgroups", sets_groups, 0}, {168, "setfsuid", acts_as_another, 0},
        {169, "capabilities", has_capabilities, 0}, {170, "capset", sets_capabilities, 0}, {171, "setrlimit upwards", raises_limit, 0},
        {172, "more memory", takes_memory, 0}, {173, "shared memory", takes_shared_memory, 0}, {174, "MAP_GROWSDOWN", takes_stack, 0},
        {175, "large pages", takes_large_pages, 0}, {176, "memfd_secret", takes_secret_memory, 0}, {177, "a large file", writes_large_file, 0},
        {178, "more descriptors", opens_many, 0}, {179, "more threads", starts_threads, 0}, {180, "syncfs", syncs, 0})
