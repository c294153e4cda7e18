/* Linux functions that Swift's Glibc module does not import. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* struct epoll_event is packed and its data is a union: both are awkward in Swift. */
static inline int CLinux_watch(int epoll, int descriptor, uint32_t events) {
  struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}
static inline int CLinux_rewatch(int epoll, int descriptor, uint32_t events) {
  struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
  return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}
static inline int CLinux_forget(int epoll, int descriptor) {
  return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}
static inline int CLinux_descriptor(const struct epoll_event *event) { return event->data.fd; }
static inline int CLinux_newPoll(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int CLinux_newWakeUp(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int CLinux_isReadable(uint32_t events) { return (events & EPOLLIN) != 0; }
static inline int CLinux_isWritable(uint32_t events) { return (events & EPOLLOUT) != 0; }
static inline int CLinux_isBroken(uint32_t events) { return (events & (EPOLLERR | EPOLLHUP)) != 0; }
static const uint32_t CLinux_READABLE = EPOLLIN;
static const uint32_t CLinux_WRITABLE = EPOLLOUT;
static const uint32_t CLinux_ONCE = EPOLLET;

/* The Swift module to which structures and enumerations of glibc belong depends on the order in which modules are loaded, which differs
 * between debug and release builds. Sources that import this module use its own names for them. */
static const int CLinux_CLOSE_ON_EXEC = SOCK_CLOEXEC;
static const int CLinux_STREAM = SOCK_STREAM;
static const int CLinux_DATAGRAM = SOCK_DGRAM;
/* The time of a clock, in seconds. */
static inline double CLinux_seconds(clockid_t clock) {
  struct timespec time = {0};
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Sends from two places with one system call. struct msghdr and the flags are awkward in Swift. Never waits, and never raises SIGPIPE. */
static inline ssize_t CLinux_send(int socket, const void *first, size_t firstLength, const void *second, size_t secondLength) {
  struct iovec parts[2] = {{(void *)first, firstLength}, {(void *)second, secondLength}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}
/* Never waits. */
static inline ssize_t CLinux_receive(int socket, void *bytes, size_t length) { return recv(socket, bytes, length, MSG_DONTWAIT); }
/* Whether the peer has sent nothing and has not closed the connection. */
static inline int CLinux_isQuiet(int socket) {
  char byte;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Limits how long a socket blocks, in seconds. */
static inline void CLinux_limitBlocking(int socket, int seconds) {
  struct timeval time = {.tv_sec = seconds};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

/* glibc declares this only with _GNU_SOURCE. The prototype is repeated because other modules may have included <pthread.h> first,
 * without it. */
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void CLinux_nameThisThread(const char *name) { pthread_setname_np(pthread_self(), name); }

/* A direct system call, since glibc declares memfd_create only with _GNU_SOURCE. MFD_CLOEXEC | MFD_NOEXEC_SEAL: the file can be mapped
 * but not executed, as vm.memfd_noexec=2 requires. Kernels before 6.3 only have MFD_CLOEXEC | MFD_ALLOW_SEALING. */
static inline int CLinux_newMemoryFile(const char *name) {
  int descriptor = (int)syscall(SYS_memfd_create, name, 0x9u);
  return descriptor >= 0 || errno != EINVAL ? descriptor : (int)syscall(SYS_memfd_create, name, 0x3u);
}
/* F_ADD_SEALS with SEAL, SHRINK, GROW and WRITE: no process can change the file any more, this one included. fcntl is variadic. */
static inline int CLinux_seal(int descriptor) { return fcntl(descriptor, 1033, 0x1 | 0x2 | 0x4 | 0x8); }

/* The number of the processor that runs the thread. glibc declares this only with _GNU_SOURCE. */
extern int sched_getcpu(void);
static inline int CLinux_processor(void) { return sched_getcpu(); }

/* Returns a descriptor that becomes readable when the process ends. */
static inline int CLinux_openProcess(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0u); }

/* Creates a pipe that child processes do not inherit and whose read end does not block. pipe2 needs _GNU_SOURCE, and fcntl is
 * variadic. */
static inline int CLinux_newPipe(int ends[2]) {
  if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return -1;
  return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

/* Closes all descriptors from `from` on in the started program. glibc declares this only with _GNU_SOURCE. */
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int CLinux_closeFrom(posix_spawn_file_actions_t *actions, int from) {
  return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/* The started program leads its own session. glibc defines this only with _GNU_SOURCE. */
static const short CLinux_NEW_SESSION = 0x80 /* POSIX_SPAWN_SETSID */;

/* Sets the working folder of the started program. glibc declares this only with _GNU_SOURCE. */
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
static inline int CLinux_changeDirectory(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

/* The next two functions of glibc and their structures are declared only with _GNU_SOURCE, so they have own names here. */
struct CLinux_Object {
  ElfW(Addr) base;
  const char *name;
  const ElfW(Phdr) *segments;
  ElfW(Half) segmentCount;
};
struct CLinux_Symbol {
  const char *library;
  void *base;
  const char *name;
  void *address;
};
extern int CLinux_forEachObject(int (*look)(struct CLinux_Object *, size_t, void *), void *context) __asm__("dl_iterate_phdr");
extern int CLinux_findSymbol(const void *address, struct CLinux_Symbol *symbol, void **entry, int wanted) __asm__("dladdr1");

static inline int CLinux_hasCodeAt(struct CLinux_Object *object, size_t size, void *address) {
  (void)size;
  for (ElfW(Half) index = 0; index < object->segmentCount; index++) {
    const ElfW(Phdr) *segment = &object->segments[index];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    if ((ElfW(Addr))address - (object->base + segment->p_vaddr) < segment->p_memsz) return 1;
  }
  return 0;
}

/* Whether the address of a symbol is in an executable segment, and the symbol is not an object. Some linkers put constants into executable
 * segments. The address of an indirect function is that of its implementation, which may have no symbol. */
static inline int CLinux_isCode(void *address) {
  if (!CLinux_forEachObject(CLinux_hasCodeAt, address)) return 0;
  struct CLinux_Symbol symbol = {NULL, NULL, NULL, NULL};
  void *entry = NULL;
  if (!CLinux_findSymbol(address, &symbol, &entry, 1 /* RTLD_DL_SYMENT */) || !entry || symbol.address != address) return 1;
  return ELF64_ST_TYPE(((const ElfW(Sym) *)entry)->st_info) != STT_OBJECT;
}

/* The most descriptors that one message may have. The system allows 253. */
static const size_t CLinux_MAXIMUM_DESCRIPTORS = 128;

/* Room for them in a message. struct cmsghdr and its macros are awkward in Swift. */
union CLinux_Descriptors {
  char bytes[CMSG_SPACE(128 * sizeof(int))];
  struct cmsghdr alignment;
};

/* Sends bytes with descriptors over a Unix domain socket. Never waits, and never raises SIGPIPE. */
static inline ssize_t CLinux_sendDescriptors(int socket, const void *bytes, size_t length, const int *descriptors, size_t count) {
  if (count == 0 || count > CLinux_MAXIMUM_DESCRIPTORS) {
    errno = EINVAL;
    return -1;
  }
  union CLinux_Descriptors control = {.bytes = {0}};
  struct iovec part = {(void *)bytes, length};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Receives bytes and descriptors, which child processes do not inherit. Waits as the socket's timeout says. `descriptors` has room for
 * CLinux_MAXIMUM_DESCRIPTORS. */
static inline ssize_t CLinux_receiveDescriptors(int socket, void *bytes, size_t length, int *descriptors, size_t *count) {
  union CLinux_Descriptors control;
  struct iovec part = {bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
  *count = 0;
  ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0) return size;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t found = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < found; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
      if (*count < CLinux_MAXIMUM_DESCRIPTORS) descriptors[(*count)++] = descriptor;
      else close(descriptor);
    }
  }
  return size;
}
