#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

/* A worker that writes more is not read any further. */
enum { MOST_REPORT = 64 << 10, MOST_OUTPUT = 1 << 20 };
/* Milliseconds for a killed worker to end. */
enum { GRACE = 2000 };
enum { NULL_DEVICE = 0, OUTPUT = 1, ERRORS = 2, REPORT = 3, PLUGIN = 4 };

/* In the copy.  All descriptors of the launcher are above those of a worker, and are closed by exec. */
static void become_worker(const struct program *program, const struct command *command, int null_device, int output, int report) {
  int is_wrong = dup2(null_device, NULL_DEVICE) < 0 || dup2(output, OUTPUT) < 0 || dup2(output, ERRORS) < 0 || dup2(report, REPORT) < 0;
  is_wrong |= program->plugin >= 0 && dup2(program->plugin, PLUGIN) < 0;
  signal(SIGPIPE, SIG_DFL);
  if (!is_wrong) syscall(SYS_execveat, program->worker, "", command->words, command->environment, AT_EMPTY_PATH);
  dprintf(report, "not started: %s\n", strerror(errno));
  _exit(FAILED);
}

/* A pipe above the descriptors of a worker. */
static int make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  ends[0] = move_up(ends[0]);
  ends[1] = move_up(ends[1]);
  return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

struct worker {
  pid_t pid;
  int process, output, report; /* descriptors; -1 when they ended */
  char text[MOST_REPORT + 1];
  size_t length, printed, dropped;
};

static int start(struct worker *worker, const struct program *program, const struct command *command) {
  int output[2], report[2], null_device = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null_device < 0 || make_pipe(output) != 0 || make_pipe(report) != 0) return -1;
  worker->pid = fork();
  if (worker->pid == 0) become_worker(program, command, null_device, output[1], report[1]);
  int code = errno;
  close(null_device);
  close(output[1]);
  close(report[1]);
  worker->output = output[0];
  worker->report = report[0];
  /* It is not reaped yet, so the number is its own. */
  worker->process = worker->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, worker->pid, 0);
  if (worker->pid > 0 && worker->process < 0) code = errno, kill(worker->pid, SIGKILL);
  errno = code;
  return worker->process < 0 ? -1 : 0;
}

/* The text of a plugin, without what a terminal would act on.  Characters beyond ASCII may be such, too. */
static void print_plainly(FILE *to, const char *text, size_t length) {
  for (size_t index = 0; index < length; index++) {
    unsigned char byte = (unsigned char)text[index];
    fputc(byte == '\n' || byte == '\t' || (byte >= 32 && byte < 127) ? byte : '?', to);
  }
}

/* Reads a block from a pipe, which it closes at its end.  Returns its length, or 0. */
static size_t read_block(int *pipe, char *block, size_t capacity) {
  ssize_t length = read(*pipe, block, capacity);
  if (length > 0) return (size_t)length;
  if (length < 0 && errno == EINTR) return 0;
  close(*pipe);
  *pipe = -1;
  return 0;
}

static size_t least(size_t one, size_t other) { return one < other ? one : other; }

static void read_report(struct worker *worker) {
  char block[4096];
  size_t length = read_block(&worker->report, block, sizeof block), kept = least(length, MOST_REPORT - worker->length);
  memcpy(worker->text + worker->length, block, kept);
  worker->length += kept;
}

static void read_output(struct worker *worker) {
  char block[4096];
  size_t length = read_block(&worker->output, block, sizeof block), kept = least(length, MOST_OUTPUT - worker->printed);
  print_plainly(stderr, block, kept);
  worker->printed += kept;
  worker->dropped += length - kept;
}

static uint64_t now(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Reads until the worker has ended and both pipes are empty.  Returns 0 if it had to be killed. */
static int read_until_end(struct worker *worker, uint64_t seconds) {
  uint64_t end = now() + 1000 * seconds;
  int is_killed = 0;
  while (worker->process >= 0 || worker->output >= 0 || worker->report >= 0) {
    uint64_t time = now();
    /* Without a filter of system calls, copies of the worker can hold the pipes. */
    if (time >= end + GRACE) break;
    if (time >= end && worker->process >= 0 && !is_killed) {
      is_killed = 1;
      syscall(SYS_pidfd_send_signal, worker->process, SIGKILL, NULL, 0);
    }
    struct pollfd waits[] = {{worker->report, POLLIN, 0}, {worker->output, POLLIN, 0}, {worker->process, POLLIN, 0}};
    int ready = poll(waits, 3, (int)(end > time ? end - time : end + GRACE - time));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    if (waits[0].revents) read_report(worker);
    if (waits[1].revents) read_output(worker);
    if (waits[2].revents) close(worker->process), worker->process = -1;
  }
  return !is_killed;
}

/* Prints how a worker ended.  Returns the exit status of the launcher. */
static int judge(struct worker *worker, int was_in_time, const struct options *options) {
  int status = 0;
  while (waitpid(worker->pid, &status, 0) < 0) {
    if (errno != EINTR) return FAILED;
  }
  worker->text[worker->length] = 0;
  print_plainly(stdout, worker->text, worker->length);
  fflush(stdout);
  if (worker->dropped) say("%zu bytes that the worker wrote were dropped", worker->dropped);
  int is_confined = strstr(worker->text, "confined\n") != NULL, early = is_confined && options->plugin ? NOT_MAPPED : FAILED;
  if (WIFEXITED(status)) {
    int code = WEXITSTATUS(status), is_known = code == DONE || code == NOT_CONFINED || code == NOT_MAPPED;
    /* A plugin can end the process too. */
    if (code == DONE && options->plugin && !strstr(worker->text, "\nmapped\n")) is_known = 0;
    if (!is_known) say("the worker ended with status %d before it was done", code);
    return is_known ? code : early;
  }
  if (!was_in_time) say("the worker did not end within %llu s and was killed", (unsigned long long)options->seconds);
  else say("the worker was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return early;
}

int run_worker(const struct options *options, const struct program *program, const struct CConfine_launch *launch) {
  static struct order order;
  static struct command command;
  static struct worker worker;
  order.memory = options->memory;
  order.confine = options->confine;
  order.words[order.word_count++] = "--plugin";
  order.words[order.word_count++] = program->plugin < 0 ? "no" : "yes";
  for (const char *path = options->readable; *path; path += strlen(path) + 1) order.folders[order.folder_count++] = path;
  fill_command(&command, &order, options, launch);
  if (start(&worker, program, &command) != 0) {
    say("a worker cannot be started: %s", strerror(errno));
    return FAILED;
  }
  int was_in_time = read_until_end(&worker, options->seconds);
  return judge(&worker, was_in_time, options);
}
