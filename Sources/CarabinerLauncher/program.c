#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* Larger files are not plugins. */
#define MOST_BYTES (1ll << 30)
/* Of memfd_create(), since Linux 6.3. */
#define MAY_EXECUTE 0x10u

int move_up(int descriptor) {
  if (descriptor < 0) return -1;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR), code = errno;
  close(descriptor);
  errno = code;
  return moved;
}

static int open_worker(const struct options *options) {
  char path[PATH_MAX];
  if (options->worker >= 0) {
    int kept = move_up(options->worker);
    if (kept < 0) say("descriptor %d of carabiner-worker cannot be used: %s", options->worker, strerror(errno));
    return kept;
  }
  static const char name[] = "carabiner-worker";
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
  if (length < 0) {
    say("/proc/self/exe cannot be read: %s. Mount /proc, or pass --worker.", strerror(errno));
    return -1;
  }
  path[length] = 0;
  char *slash = strrchr(path, '/');
  memcpy(slash ? slash + 1 : path, name, sizeof name);
  int worker = move_up(open(path, O_RDONLY | O_CLOEXEC));
  if (worker < 0) say("%s cannot be opened: %s. Install it beside carabiner-launcher.", path, strerror(errno));
  return worker;
}

/* Copies a file.  Returns -1 with errno. */
static int copy(int from, int to) {
  static char block[64 << 10];
  for (long long copied = 0;;) {
    ssize_t length = read(from, block, sizeof block);
    if (length == 0) return 0;
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return -1;
    copied += length;
    if (copied > MOST_BYTES) return errno = EFBIG, -1;
    /* Memory takes a whole block, or fails. */
    if (write(to, block, (size_t)length) != length) return errno = ENOSPC, -1;
  }
}

/* The bytes of a plugin as sealed memory, which cannot be changed after it was filled. */
static int seal(int file) {
  int memory = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING | MAY_EXECUTE);
  if (memory < 0 && errno == EINVAL) memory = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -1;
  if (copy(file, memory) != 0 || fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    int code = errno;
    close(memory);
    return errno = code, -1;
  }
  return move_up(memory);
}

static int open_plugin(const char *path) {
  /* Without waiting: the path may be that of a pipe. */
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    say("%s cannot be read: %s. Name the file of a plugin.", path, file < 0 ? strerror(errno) : "it is not a file");
    if (file >= 0) close(file);
    return -1;
  }
  int sealed = seal(file), code = errno;
  close(file);
  if (sealed < 0) say("%s cannot be copied into memory: %s", path, strerror(code));
  return sealed;
}

/* The socket of a service, moved above the descriptors of a worker. */
static int open_socket(const struct options *options) {
  int type = 0;
  socklen_t size = sizeof type;
  int code = getsockopt(options->serve, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? 0 : errno;
  int socket = code == 0 && type == SOCK_SEQPACKET ? move_up(options->serve) : -1;
  if (socket >= 0) return socket;
  if (code == 0 && type != SOCK_SEQPACKET) code = ESOCKTNOSUPPORT;
  else if (code == 0) code = errno;
  say("descriptor %d cannot be served: %s. The host passes one end of a SEQPACKET socket pair.", options->serve, strerror(code));
  return -1;
}

int open_program(const struct options *options, struct program *program) {
  program->plugin = program->socket = -1;
  if (options->serve >= 0 && (program->socket = open_socket(options)) < 0) return -1;
  program->worker = open_worker(options);
  if (program->worker < 0) return -1;
  /* Others of the host are not for workers. */
  if (program->socket >= 0) syscall(SYS_close_range, 3, FIRST_DESCRIPTOR - 1, 0);
  if (!options->plugin) return 0;
  program->plugin = open_plugin(options->plugin);
  return program->plugin < 0 ? -1 : 0;
}
