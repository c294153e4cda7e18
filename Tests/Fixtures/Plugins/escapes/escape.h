/* Shared code of the fixtures of this folder.  Each is a table of attempts of a plugin to affect something outside its process.
 * Compiled as a library, it is a plugin that makes all attempts: in a constructor, in create(), and in a thread.
 * Compiled with WORKER, it is a plugin for a worker: a constructor makes the attempts, and a thread that it starts.
 * Compiled with PROGRAM, it is a program that makes them without confinement, which shows that they can succeed.
 *
 * Successful attempts do no harm: signals have number 0, settings keep their values, and files are in a folder that the test has
 * made.  OUTSIDE is that folder; it holds file-N and folder-N for each number N.  TARGET is the process that is attacked: the
 * supervisor for a plugin, a child process for the program.
 *
 * It writes a line to standard error for each successful attempt, and then their number. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OUTSIDE
#define OUTSIDE "/nonexistent"
#endif

struct escape {
  int number;
  const char *name;
  int (*attempt)(void); /* 1: it succeeded */
  int is_harmful;       /* it is tried only in confinement */
};

static pid_t target;
static int current;

/* A path in the folder outside, for this attempt only. */
static const char *mine(const char *what) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s-%d", OUTSIDE, what, current);
  return path;
}

static const char *of_target(const char *file) {
  static char path[4096];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)target, file);
  return path;
}

static int opens(const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

/* Reads a byte of a file or an entry of a folder. */
static int reads(const char *path) {
  char text[4096];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  struct stat status;
  int is_folder = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  long count = is_folder ? syscall(SYS_getdents64, file, text, sizeof text) : read(file, text, sizeof text);
  close(file);
  return count > 0;
}

/* A little more than the plugin may have. */
#ifdef WORKER
enum { TOO_MUCH_MEMORY = 257 << 20, TOO_MANY_THREADS = 128, TOO_MANY_DESCRIPTORS = 64 };
#else
#define TOO_MUCH_MEMORY (5ul << 30)
enum { TOO_MANY_THREADS = 2100, TOO_MANY_DESCRIPTORS = 5000 };
#endif

extern const struct escape escapes[];
extern const size_t escape_count;

/* In a process that may not fork.  What an attempt leaves open would let later ones fail. */
static int succeeds_here(const struct escape *escape) {
  enum { MOST = 256 };
  char was_open[MOST];
  for (int file = 0; file < MOST; file++) was_open[file] = fcntl(file, F_GETFD) >= 0;
  int succeeded = escape->attempt();
  for (int file = 0; file < MOST; file++) {
    if (!was_open[file]) close(file);
  }
  return succeeded;
}

static int exits_with_success(const struct escape *escape) {
  current = escape->number;
  pid_t child = fork();
  if (child < 0) return succeeds_here(escape);
  if (child == 0) {
    alarm(20);
    _exit(escape->attempt() ? 42 : 0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 42;
}

static void try_all(const char *place, int is_confined) {
  size_t tried = 0, succeeded = 0;
  for (size_t index = 0; index < escape_count; index++) {
    if (escapes[index].is_harmful && !is_confined) continue;
    tried++;
    if (!exits_with_success(&escapes[index])) continue;
    succeeded++;
    fprintf(stderr, "succeeded in %s: %d %s\n", place, escapes[index].number, escapes[index].name);
  }
  /* Otherwise attempts may have failed for want of descriptors. */
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) fprintf(stderr, "no pipe can be made in %s: %s\n", place, strerror(errno));
  else fprintf(stderr, "in %s %zu of %zu\n", place, succeeded, tried);
  close(ends[0]);
  close(ends[1]);
}

#ifdef PROGRAM

int main(void) {
  if ((target = fork()) == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  try_all("program", 0);
  kill(target, SIGKILL);
  return 0;
}

#else

#include <carabiner.h>

static void *in_thread(void *nothing) {
  try_all("thread", 1);
  return nothing;
}

__attribute__((constructor)) static void in_constructor(void) {
  target = getppid();
  try_all("constructor", 1);
#ifdef WORKER
  pthread_t thread;
  if (pthread_create(&thread, NULL, in_thread, NULL) == 0) pthread_join(thread, NULL);
#endif
}

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static int done;
  (void)h, (void)info, (void)why;
  pthread_t thread;
  if (!done++) {
    try_all("create", 1);
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0) return CRB_E_INTERNAL;
    pthread_join(thread, NULL);
  }
  *inst = NULL;
  return CRB_OK;
}
#define CREATE create
#define DESTROY NULL
#include "sound.h"

#endif

/* The table, at the end of each fixture. */
#define ESCAPES(...)                            \
  const struct escape escapes[] = {__VA_ARGS__}; \
  const size_t escape_count = sizeof escapes / sizeof *escapes;
