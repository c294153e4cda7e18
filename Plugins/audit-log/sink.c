#define _GNU_SOURCE
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The longest wait for a full socket, in milliseconds. */
enum { SOCKET_PATIENCE = 1000 };

static int open_file(sink *s) {
  /* O_NONBLOCK: a named pipe must not hold the thread. */
  int descriptor = open(s->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
  if (descriptor < 0) return errno;
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return ENOTSUP;
  }
  s->descriptor = descriptor;
  s->size = (uint64_t)status.st_size;
  s->device = status.st_dev;
  s->inode = status.st_ino;
  return 0;
}

static int open_socket(sink *s) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(s->path) >= sizeof address.sun_path) return ENAMETOOLONG;
  memcpy(address.sun_path, s->path, strlen(s->path) + 1);
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return errno;
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    int error = errno;
    close(descriptor);
    return error;
  }
  s->descriptor = descriptor;
  return 0;
}

int sink_open(sink *s) { return s->is_syslog ? open_socket(s) : open_file(s); }

void sink_close(sink *s) {
  if (s->descriptor >= 0) close(s->descriptor);
  s->descriptor = -1;
}

/* Closes a file whose path has another file now, or none, as logrotate does. */
static void follow_path(sink *s) {
  struct stat status;
  if (s->descriptor >= 0 && (stat(s->path, &status) != 0 || status.st_dev != s->device || status.st_ino != s->inode)) sink_close(s);
}

static void rotate(sink *s) {
  char from[MAXIMUM_PATH + 16], to[MAXIMUM_PATH + 16];
  sink_close(s);
  for (unsigned i = s->kept; i >= 1; i--) {
    snprintf(to, sizeof to, "%s.%u", s->path, i);
    if (i > 1) snprintf(from, sizeof from, "%s.%u", s->path, i - 1);
    else snprintf(from, sizeof from, "%s", s->path);
    rename(from, to); /* A missing older file is not an error. */
  }
}

static size_t count_lines(const char *bytes, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += bytes[i] == '\n';
  return count;
}

static size_t write_file(sink *s, const char *lines, size_t length, int *error) {
  int has_rotated = 0;
  while (length) {
    follow_path(s);
    if (s->descriptor < 0 && (*error = open_file(s)) != 0) return count_lines(lines, length);
    /* As many lines as fit before the rotation, and at least one. */
    size_t piece = length;
    if (s->maximum_bytes && s->size + length > s->maximum_bytes) {
      size_t room = s->size < s->maximum_bytes ? (size_t)(s->maximum_bytes - s->size) : 0;
      const char *end = room ? memrchr(lines, '\n', room < length ? room : length) : NULL;
      if (!end && s->size > 0 && !has_rotated) {
        rotate(s);
        /* If the file cannot be renamed, it grows. */
        has_rotated = 1;
        continue;
      }
      if (!end) end = memchr(lines, '\n', length);
      piece = end ? (size_t)(end - lines) + 1 : length;
    }
    ssize_t written = write(s->descriptor, lines, piece);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      *error = written < 0 ? errno : ENOSPC;
      return count_lines(lines, length);
    }
    s->size += (uint64_t)written;
    if ((size_t)written < piece) {
      /* The disk is full. The part of a line is removed, so that the file has whole lines. */
      const char *end = memrchr(lines, '\n', (size_t)written);
      size_t whole = end ? (size_t)(end - lines) + 1 : 0;
      s->size -= (size_t)written - whole;
      if (ftruncate(s->descriptor, (off_t)s->size) != 0) sink_close(s);
      *error = ENOSPC;
      return count_lines(lines + whole, length - whole);
    }
    has_rotated = 0;
    lines += piece;
    length -= piece;
  }
  return 0;
}

/* Sends one line in the form of syslog(3): facility user, level info. */
static int send_line(sink *s, const char *line, size_t length) {
  static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  char head[64];
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  int n = snprintf(head, sizeof head, "<14>%s %2d %02d:%02d:%02d carabiner-audit[%d]: ", months[local.tm_mon % 12], local.tm_mday,
                   local.tm_hour, local.tm_min, local.tm_sec, (int)getpid());
  struct iovec parts[] = {{head, (size_t)n}, {(void *)(uintptr_t)line, length}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  int has_waited = 0;
  for (int attempt = 0; attempt < 3; attempt++) {
    if (s->descriptor < 0) {
      int error = open_socket(s);
      if (error) return error;
    }
    if (sendmsg(s->descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return 0;
    int error = errno;
    if (error == EAGAIN || error == ENOBUFS) {
      if (has_waited) return error;
      has_waited = 1;
      struct pollfd ready = {.fd = s->descriptor, .events = POLLOUT};
      poll(&ready, 1, SOCKET_PATIENCE);
    } else if (error == EMSGSIZE) {
      return error;
    } else if (error != EINTR) {
      sink_close(s); /* The daemon was restarted: a new connection finds it. */
    }
  }
  return EAGAIN;
}

static size_t write_socket(sink *s, const char *lines, size_t length, int *error) {
  size_t lost = 0;
  while (length) {
    const char *end = memchr(lines, '\n', length);
    size_t line = end ? (size_t)(end - lines) : length;
    int problem = send_line(s, lines, line);
    if (problem) *error = problem, lost++;
    size_t passed = line + (end != NULL);
    lines += passed;
    length -= passed;
    /* A daemon that does not read must not delay the end of the plugin by a second for each line. */
    if (problem && problem != EMSGSIZE) return lost + count_lines(lines, length);
  }
  return lost;
}

size_t sink_write(sink *s, const char *lines, size_t length, int *error) {
  return s->is_syslog ? write_socket(s, lines, length, error) : write_file(s, lines, length, error);
}
