/* The launcher as a service of the host. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

/* The descriptors beside those of a worker: one message's, twice while a worker takes them, and some of the launcher's own. */
enum { DESCRIPTORS = 1024 };
/* Processes that are reaped before the socket is looked at again. */
enum { MOST_REAPED = 64 };

struct service {
  const struct options *options;
  const struct program *program;
  const struct CConfine_launch *how;
  int children, null_device; /* `children` is readable when a process has ended */
  struct {
    pid_t process;
    uint64_t request;
  } workers[CLAUNCHING_MOST_WORKERS];
  size_t count;
};

/* A START, and the descriptors that came with it. */
struct received {
  struct CLaunching_start start;
  char text[CLAUNCHING_MOST_TEXT];
  size_t length; /* of both */
  int is_cut;
  int descriptors[CLAUNCHING_MOST_DESCRIPTORS + 4];
  size_t count;
};

/* Sends a message, and the descriptor if it is not negative.  Waits for a host that does not read: only its own requests wait with it. */
static int send_message(const struct service *service, const void *bytes, size_t length, int descriptor) {
  struct iovec part = {(void *)bytes, length};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  do {
    sent = sendmsg(service->program->socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)length ? 0 : -1;
}

static int send_failure(const struct service *service, uint64_t request, int code, const char *step) {
  struct CLaunching_answer answer = {.kind = CLAUNCHING_FAILED, .code = code, .request = request};
  snprintf(answer.step, sizeof answer.step, "%s", step);
  return send_message(service, &answer, sizeof answer, -1);
}

static int send_hello(const struct service *service) {
  const struct CConfine_launch *how = service->how;
  struct CLaunching_hello hello = {.kind = CLAUNCHING_HELLO, .version = CLAUNCHING_VERSION, .build = CLAUNCHING_BUILD};
  if (how->layers & CCONFINE_NAMESPACES) hello.layers |= CLAUNCHING_NAMESPACES;
  if (how->layers & CCONFINE_ROOT) hello.layers |= CLAUNCHING_ROOT;
  hello.namespaces_code = how->layers & CCONFINE_NAMESPACES ? 0 : how->namespaces.code;
  hello.root_code = how->layers & CCONFINE_ROOT ? 0 : how->root.code;
  if (!(how->layers & CCONFINE_NAMESPACES)) snprintf(hello.namespaces_step, sizeof hello.namespaces_step, "%s", how->namespaces.step);
  if (!(how->layers & CCONFINE_ROOT)) snprintf(hello.root_step, sizeof hello.root_step, "%s", how->root.step);
  return send_message(service, &hello, sizeof hello, -1);
}

/* ---- A worker ---- */

/* In the copy.  Returns the step that failed, with errno. */
static const char *become_worker(const struct service *service, const struct command *command, const struct received *received) {
  int above[CLAUNCHING_MOST_DESCRIPTORS];
  /* First all above the numbers of a worker: a descriptor may have the number that another one gets. */
  for (size_t index = 0; index < received->count; index++) {
    above[index] = fcntl(received->descriptors[index], F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (above[index] < 0) return "a copy of a descriptor";
  }
  if (dup2(service->null_device, 0) < 0 || dup2(above[0], 1) < 0 || dup2(above[0], 2) < 0) return "dup2()";
  for (size_t index = 1; index < received->count; index++) {
    if (dup2(above[index], (int)index + 2) < 0) return "dup2()";
  }
  sigset_t none;
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  syscall(SYS_execveat, service->program->worker, "", command->words, command->environment, AT_EMPTY_PATH);
  return "execveat() of carabiner-worker";
}

/* Starts a process.  Returns when it has become a worker, so that a failure is an answer: its number, or -1 with the reason. */
static pid_t start(const struct service *service, const struct command *command, const struct received *received,
                   struct CConfine_failure *why) {
  int ends[2];
  *why = (struct CConfine_failure){.step = "pipe2()"};
  if (pipe2(ends, O_CLOEXEC) != 0) return why->code = errno, -1;
  /* A worker could overwrite the lower number. */
  ends[1] = move_up(ends[1]);
  pid_t process = ends[1] < 0 ? -1 : fork();
  if (process == 0) {
    const char *step = become_worker(service, command, received);
    why->code = errno;
    snprintf(why->step, sizeof why->step, "%s", step);
    _exit(write(ends[1], why, sizeof *why) == sizeof *why ? FAILED : WRONG_USAGE);
  }
  int code = errno;
  if (ends[1] >= 0) close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    *why = (struct CConfine_failure){.step = "fork()", .code = code};
    return -1;
  }
  ssize_t length;
  do {
    length = read(ends[0], why, sizeof *why);
  } while (length < 0 && errno == EINTR);
  close(ends[0]);
  if (length < 0) *why = (struct CConfine_failure){.step = "read()", .code = EIO};
  return length == 0 ? process : -1;
}

static int has_request(const struct service *service, uint64_t request) {
  for (size_t index = 0; index < service->count; index++) {
    if (service->workers[index].request == request) return 1;
  }
  return 0;
}

/* Returns -1 if the host cannot be answered. */
static int start_worker(struct service *service, const struct order *order, const struct received *received) {
  static struct command command;
  if (service->count == CLAUNCHING_MOST_WORKERS) return send_failure(service, order->request, EAGAIN, "the number of workers");
  if (has_request(service, order->request)) return send_failure(service, order->request, EEXIST, "the number of the request");
  fill_command(&command, order, service->options, service->how);
  struct CConfine_failure why;
  pid_t process = start(service, &command, received, &why);
  if (process < 0) return send_failure(service, order->request, why.code, why.step);
  /* It is not reaped yet, so the number is its own. */
  int pidfd = (int)syscall(SYS_pidfd_open, process, 0);
  if (pidfd < 0) {
    int code = errno;
    kill(process, SIGKILL);
    return send_failure(service, order->request, code, "pidfd_open()");
  }
  service->workers[service->count].process = process;
  service->workers[service->count++].request = order->request;
  struct CLaunching_answer answer = {.kind = CLAUNCHING_STARTED, .code = process, .request = order->request};
  int sent = send_message(service, &answer, sizeof answer, pidfd);
  close(pidfd);
  return sent;
}

/* ---- The loop ---- */

static void take_descriptors(struct received *received, struct msghdr *message) {
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < count; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
      if (received->count < sizeof received->descriptors / sizeof *received->descriptors) {
        received->descriptors[received->count++] = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
}

/* Receives a message.  Returns 0 if there is none, -1 if the socket fails. */
static int receive(const struct service *service, struct received *received) {
  struct iovec parts[] = {{&received->start, sizeof received->start}, {received->text, sizeof received->text}};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof received->descriptors)];
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control};
  memset(&received->start, 0, sizeof received->start);
  ssize_t length = recvmsg(service->program->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  received->length = (size_t)length;
  received->count = 0;
  /* The kernel has closed the descriptors for which there was no room. */
  received->is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  take_descriptors(received, &message);
  return 1;
}

/* Returns -1 if the host cannot be answered. */
static int answer(struct service *service, const struct received *received) {
  static struct order order;
  char step[CLAUNCHING_STEP];
  size_t least = sizeof received->start;
  /* A message that is cut may have its number nevertheless. */
  uint64_t request = received->length >= offsetof(struct CLaunching_start, memory) ? received->start.request : 0;
  if (received->length < least) return send_failure(service, request, EPROTO, "the length of the message");
  if (received->is_cut) return send_failure(service, request, E2BIG, "the length of the message, or the number of descriptors");
  int code = take_order(&order, &received->start, received->text, received->length - least, received->count, service->options, step);
  if (code != 0) return send_failure(service, request, code, step);
  return start_worker(service, &order, received);
}

static int serve_message(struct service *service) {
  static struct received received;
  int is_received = receive(service, &received);
  if (is_received <= 0) return is_received;
  int answered = answer(service, &received);
  for (size_t index = 0; index < received.count; index++) close(received.descriptors[index]);
  return answered;
}

static uint64_t microseconds(struct timeval time) { return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec; }

static int send_end(struct service *service, pid_t process, int status, const struct rusage *usage) {
  for (size_t index = 0; index < service->count; index++) {
    if (service->workers[index].process != process) continue;
    struct CLaunching_answer answer = {
        .kind = CLAUNCHING_ENDED,
        .code = status,
        .request = service->workers[index].request,
        .user = microseconds(usage->ru_utime),
        .system = microseconds(usage->ru_stime),
        .kilobytes = (uint64_t)usage->ru_maxrss,
    };
    service->workers[index] = service->workers[--service->count];
    return send_message(service, &answer, sizeof answer, -1);
  }
  /* It could not become a worker; or it is a process of a plugin, in a worker without a filter of system calls: process 1 of a
   * namespace gets all processes whose parents have ended. */
  return 0;
}

/* Reaps processes that have ended.  Returns 1 if there may be more, 0 if not, and -1 if the host cannot be notified. */
static int reap(struct service *service) {
  struct signalfd_siginfo news[8];
  if (read(service->children, news, sizeof news) < 0 && errno != EAGAIN && errno != EINTR) return -1;
  for (int count = 0; count < MOST_REAPED; count++) {
    int status;
    struct rusage usage;
    pid_t process = wait4(-1, &status, WNOHANG, &usage);
    if (process <= 0) return 0;
    if (send_end(service, process, status, &usage) != 0) return -1;
  }
  return 1;
}

static int prepare(struct service *service) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  /* Blocked signals are kept for the descriptor. */
  if (sigprocmask(SIG_BLOCK, &children, NULL) != 0) return -1;
  service->children = move_up(signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC));
  service->null_device = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return service->children < 0 || service->null_device < 0 ? -1 : 0;
}

int serve(const struct options *options, const struct program *program, const struct CConfine_launch *launch) {
  static struct service service;
  service.options = options;
  service.program = program;
  service.how = launch;
  if (prepare(&service) != 0) {
    say("the service cannot be prepared: %s. Raise the limit of open files (ulimit -n) to 1024.", strerror(errno));
    return FAILED;
  }
  if (send_hello(&service) != 0) return DONE;
  int has_more = 0;
  for (;;) {
    struct pollfd waits[] = {{program->socket, POLLIN, 0}, {service.children, POLLIN, 0}};
    int ready = poll(waits, 2, has_more ? 0 : -1);
    if (ready < 0 && errno != EINTR) return FAILED;
    if (ready < 0) continue;
    /* The host has ended, or needs no more workers.  The kernel ends those that are left. */
    if (waits[0].revents & (POLLHUP | POLLERR | POLLNVAL)) return DONE;
    if (waits[1].revents || has_more) has_more = reap(&service);
    if (has_more < 0) return DONE;
    if (waits[0].revents && serve_message(&service) != 0) return DONE;
  }
}
