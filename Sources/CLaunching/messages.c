#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "launching.h"

int CLaunching_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

int CLaunching_send(int socket, const struct CLaunching_start *start, const char *text, const int *descriptors) {
  if (start->descriptors > CLAUNCHING_MOST_DESCRIPTORS || start->text > CLAUNCHING_MOST_TEXT) return errno = E2BIG, -1;
  struct CLaunching_start copy = *start;
  copy.kind = CLAUNCHING_START;
  struct iovec parts[] = {{&copy, sizeof copy}, {(void *)text, start->text}};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(CLAUNCHING_MOST_DESCRIPTORS * sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  if (start->descriptors) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(start->descriptors * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(start->descriptors * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, start->descriptors * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static int64_t now(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Waits until a descriptor is readable.  Returns 1; 0 after the time; -1 with errno. */
static int wait_for(int descriptor, int milliseconds) {
  int64_t end = now() + milliseconds;
  for (;;) {
    int64_t left = end - now();
    struct pollfd wait = {descriptor, POLLIN, 0};
    int ready = poll(&wait, 1, milliseconds < 0 ? -1 : left > 0 ? (int)left : 0);
    if (ready >= 0 || errno != EINTR) return ready;
  }
}

/* Keeps one descriptor of a message, and closes all others. */
static void take_descriptor(struct msghdr *message, int *descriptor) {
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < count; index++) {
      int received;
      memcpy(&received, CMSG_DATA(header) + index * sizeof(int), sizeof received);
      if (*descriptor < 0) *descriptor = received;
      else close(received);
    }
  }
}

ptrdiff_t CLaunching_receive(int socket, int milliseconds, void *bytes, size_t capacity, int *descriptor) {
  *descriptor = -1;
  int ready = wait_for(socket, milliseconds);
  if (ready <= 0) return errno = ready == 0 ? ETIMEDOUT : errno, -1;
  struct iovec part = {bytes, capacity};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t length;
  do {
    length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  /* The launcher ended with a START unread. */
  if (length < 0 && errno == ECONNRESET) return 0;
  if (length < 0) return -1;
  take_descriptor(&message, descriptor);
  uint32_t kind = 0;
  if ((size_t)length >= sizeof kind) memcpy(&kind, bytes, sizeof kind);
  if (*descriptor >= 0 && kind != CLAUNCHING_STARTED) close(*descriptor), *descriptor = -1;
  return length;
}

int32_t CLaunching_processOf(int pidfd) {
  char path[48], text[1024];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length < 0) return -1;
  text[length] = 0;
  const char *line = strstr(text, "\nPid:");
  return line ? (pid_t)strtol(line + 5, NULL, 10) : -1;
}

int CLaunching_signal(int pidfd, int signal) { return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0); }

int CLaunching_hasEnded(int pidfd, int milliseconds) { return wait_for(pidfd, milliseconds) == 1; }
