/* Messages over a socket to another process and back: what a crossing to a worker is compared with. */
#define _GNU_SOURCE
#include "carabiner_benchmark.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. Ends with the parent's end of the socket. */
static void echo(int socket, char *message, size_t bytes) {
  for (;;) {
    ssize_t length = recv(socket, message, bytes, 0);
    if (length <= 0 || send(socket, message, (size_t)length, MSG_NOSIGNAL) != length) _exit(length == 0 ? 0 : 1);
  }
}

/* Neither side waits for room while the other one does: the parent sends only what fits. */
static int exchange(int socket, char *message, long total, long in_flight, size_t bytes) {
  long sent = 0, received = 0;
  while (received < total) {
    int may_send = sent < total && sent - received < in_flight;
    if (may_send && send(socket, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes) {
      sent++;
      continue;
    }
    if (may_send && errno != EAGAIN) return errno;
    if (!may_send) {
      /* The usual case: it sleeps in recv(), as the child does. */
      if (recv(socket, message, bytes, 0) != (ssize_t)bytes) return EPROTO;
      received++;
      continue;
    }
    struct pollfd wait = {.fd = socket, .events = POLLIN | POLLOUT};
    if (poll(&wait, 1, -1) < 0) return errno;
    if (!(wait.revents & POLLIN)) continue;
    if (recv(socket, message, bytes, 0) != (ssize_t)bytes) return EPROTO;
    received++;
  }
  return 0;
}

int bench_seqpacket(long total, long in_flight, size_t bytes, uint64_t *cpu_ns) {
  int ends[2];
  char *message = calloc(1, bytes);
  if (!message) return ENOMEM;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return free(message), errno;
  uint64_t start = bench_cpu_ns();
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    echo(ends[1], message, bytes);
  }
  int code = child < 0 ? errno : 0;
  close(ends[1]);
  if (child > 0) {
    code = exchange(ends[0], message, total, in_flight, bytes);
    *cpu_ns = bench_cpu_ns() - start + bench_process_cpu_ns(child);
  }
  close(ends[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && status != 0 && !code) code = EPROTO;
  free(message);
  return code;
}
