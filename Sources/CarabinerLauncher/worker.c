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
enum { WORDS = 24 + 2 * MOST_FOLDERS };

/* The command line of a worker. */
struct command {
  char parent[16], user[32], memory[24], layers[16], outside[256], namespaces[128], root[128];
  char *words[WORDS];
  char *environment[4];
};

static void add(struct command *command, size_t *count, const char *name, const char *value) {
  command->words[(*count)++] = (char *)name;
  command->words[(*count)++] = (char *)value;
}

static void describe_outside(char *text, size_t capacity, const struct CConfine_place *outside) {
  size_t used = 0;
  for (size_t index = 0; index < CCONFINE_NAMESPACE_COUNT; index++) {
    used += (size_t)snprintf(text + used, capacity - used, "%llu,", (unsigned long long)outside->namespaces[index]);
  }
  snprintf(text + used, capacity - used, "%llu,%llu", (unsigned long long)outside->root_device, (unsigned long long)outside->root_file);
}

/* The environment of a worker: only what its loader and its clock need. */
static void fill_environment(struct command *command) {
  static const char *const names[] = {"TZ", "LD_LIBRARY_PATH"};
  size_t count = 0;
  command->environment[count++] = "LANG=C.UTF-8";
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    char *text = NULL;
    const char *value = getenv(names[index]);
    if (value && asprintf(&text, "%s=%s", names[index], value) > 0) command->environment[count++] = text;
  }
  command->environment[count] = NULL;
}

static void fill(struct command *command, const struct options *options, const struct program *program, const struct CConfine_launch *how) {
  snprintf(command->parent, sizeof command->parent, "%d", (int)getpid());
  snprintf(command->user, sizeof command->user, "%u:%u", (unsigned)options->user, (unsigned)options->group);
  snprintf(command->memory, sizeof command->memory, "%llu", (unsigned long long)options->memory);
  snprintf(command->layers, sizeof command->layers, "%u", (unsigned)how->layers);
  snprintf(command->namespaces, sizeof command->namespaces, "%d:%s", how->namespaces.code, how->namespaces.step);
  snprintf(command->root, sizeof command->root, "%d:%s", how->root.code, how->root.step);
  describe_outside(command->outside, sizeof command->outside, &how->outside);
  size_t count = 0;
  command->words[count++] = "carabiner-worker";
  add(command, &count, "--parent", command->parent);
  add(command, &count, "--user", command->user);
  add(command, &count, "--memory", command->memory);
  add(command, &count, "--confine", options->confine);
  add(command, &count, "--layers", command->layers);
  add(command, &count, "--outside", command->outside);
  add(command, &count, "--no-namespaces", command->namespaces);
  add(command, &count, "--no-root", command->root);
  add(command, &count, "--plugin", program->plugin < 0 ? "no" : "yes");
  for (const char *path = options->readable; *path; path += strlen(path) + 1) add(command, &count, "--read", path);
  command->words[count] = NULL;
  fill_environment(command);
}

/* In the copy.  All descriptors of the launcher are above those of a worker, and are closed by exec. */
static void become_worker(const struct program *program, const struct command *command, int null_device, int output, int report) {
  int is_wrong = dup2(null_device, NULL_DEVICE) < 0 || dup2(output, OUTPUT) < 0 || dup2(output, ERRORS) < 0 || dup2(report, REPORT) < 0;
  is_wrong |= program->plugin >= 0 && dup2(program->plugin, PLUGIN) < 0;
  signal(SIGPIPE, SIG_DFL);
  if (!is_wrong) syscall(SYS_execveat, program->worker, "", command->words, command->environment, 0x1000 /* AT_EMPTY_PATH */);
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

/* The text of a plugin, without control characters, on which a terminal would act. */
static void print_plainly(FILE *to, const char *text, size_t length) {
  for (size_t index = 0; index < length; index++) {
    unsigned char byte = (unsigned char)text[index];
    fputc(byte == '\n' || byte == '\t' || (byte >= 32 && byte != 127) ? byte : '?', to);
  }
}

static void read_report(struct worker *worker) {
  char block[4096];
  ssize_t length = read(worker->report, block, sizeof block);
  if (length < 0 && errno == EINTR) return;
  if (length <= 0) {
    close(worker->report);
    worker->report = -1;
    return;
  }
  size_t kept = (size_t)length < MOST_REPORT - worker->length ? (size_t)length : MOST_REPORT - worker->length;
  memcpy(worker->text + worker->length, block, kept);
  worker->length += kept;
}

static void read_output(struct worker *worker) {
  char block[4096];
  ssize_t length = read(worker->output, block, sizeof block);
  if (length < 0 && errno == EINTR) return;
  if (length <= 0) {
    close(worker->output);
    worker->output = -1;
    return;
  }
  size_t kept = (size_t)length < MOST_OUTPUT - worker->printed ? (size_t)length : MOST_OUTPUT - worker->printed;
  print_plainly(stderr, block, kept);
  worker->printed += kept;
  worker->dropped += (size_t)length - kept;
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
  static struct command command;
  static struct worker worker;
  fill(&command, options, program, launch);
  if (start(&worker, program, &command) != 0) {
    say("a worker cannot be started: %s", strerror(errno));
    return FAILED;
  }
  int was_in_time = read_until_end(&worker, options->seconds);
  return judge(&worker, was_in_time, options);
}
