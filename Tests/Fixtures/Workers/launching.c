/* A host in C, for tests of carabiner-launcher --serve.
 *
 * launching killed LAUNCHER WORKER PLUGIN: kills a host whose worker maps a plugin, and prints when its processes ended.
 * launching bad LAUNCHER WORKER: sends requests with errors, and then a good one, and prints the answers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launching.h"

static int host;

static void fail(const char *step) {
  perror(step);
  exit(1);
}

/* Returns the pidfd of a STARTED, else -1. */
static int receive(struct CLaunching_answer *answer) {
  int descriptor;
  ssize_t length = CLaunching_receive(host, 20000, answer, sizeof *answer, &descriptor);
  if (length != sizeof *answer) fail("an answer");
  return descriptor;
}

/* Sends any bytes with any number of descriptors, all of which are those of /dev/null. */
static void send_bytes(const void *bytes, size_t length, size_t count) {
  static _Alignas(struct cmsghdr) char control[CMSG_SPACE(250 * sizeof(int))];
  int null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  struct iovec part = {(void *)bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t index = 0; index < count; index++) memcpy(CMSG_DATA(header) + index * sizeof(int), &null_device, sizeof(int));
  }
  if (sendmsg(host, &message, MSG_NOSIGNAL) < 0) fail("sendmsg()");
  close(null_device);
}

static struct {
  struct CLaunching_start start;
  char text[CLAUNCHING_MOST_TEXT + 64];
} bad;

/* A request that is right, and has one folder, one variable and two words. */
static void reset(const char *folder, const char *variable, const char *word) {
  memset(&bad, 0, sizeof bad);
  bad.start = (struct CLaunching_start){.kind = CLAUNCHING_START, .is_strict = 0, .request = 7, .memory = 64 << 20, .folders = 1,
                                        .variables = 1, .words = 2, .descriptors = 2};
  const char *const strings[] = {folder, variable, word, "no"};
  for (size_t index = 0; index < 4; index++) {
    strcpy(bad.text + bad.start.text, strings[index]);
    bad.start.text += (uint32_t)strlen(strings[index]) + 1;
  }
}

static void try(const char *name, size_t length, size_t descriptors) {
  struct CLaunching_answer answer;
  send_bytes(&bad, length, descriptors);
  int descriptor = receive(&answer);
  if (descriptor >= 0) close(descriptor);
  printf("%s: %s %llu %s: %s\n", name, answer.kind == CLAUNCHING_FAILED ? "failed" : "started", (unsigned long long)answer.request,
         strerrorname_np(answer.code), answer.step);
}

static size_t whole(void) { return sizeof bad.start + bad.start.text; }

#define FOLDER "/usr/share"

#define TRY(name, change)                \
  reset(FOLDER, "A=b", "--plugin");      \
  change;                                \
  try(name, whole(), bad.start.descriptors)

static void send_bad(void) {
  reset(FOLDER, "A=b", "--plugin");
  try("cut to nothing", 0, 0);
  for (size_t length = 1; length < whole(); length += 7) try("cut", length, 2);
  try("too long", sizeof bad, 2);
  try("descriptors that are not announced", whole(), 3);
  TRY("too many descriptors", bad.start.descriptors = 61);
  TRY("far too many descriptors", bad.start.descriptors = 250);
  TRY("no descriptors", bad.start.descriptors = 0);
  TRY("another kind", bad.start.kind = CLAUNCHING_ENDED);
  TRY("no number", bad.start.request = 0);
  TRY("little memory", bad.start.memory = 1);
  TRY("much memory", bad.start.memory = UINT64_MAX);
  TRY("strict", bad.start.is_strict = 2);
  TRY("too many folders", bad.start.folders = 257);
  TRY("too many variables", bad.start.variables = 65);
  TRY("too many words", bad.start.words = 65);
  TRY("more strings than text", bad.start.words = 4);
  TRY("fewer strings than text", bad.start.words = 0);
  TRY("text without an end", bad.text[bad.start.text - 1] = 'x');
  reset("/etc", "A=b", "--plugin"), try("a folder that the launcher does not have", whole(), 2);
  reset(FOLDER "/zoneinfo/..", "A=b", "--plugin"), try("another path of a folder", whole(), 2);
  reset(FOLDER, "A", "--plugin"), try("a variable without a value", whole(), 2);
  reset(FOLDER, "LD_PRELOAD=/evil.so", "--plugin"), try("a variable of the loader", whole(), 2);
  reset(FOLDER, "A=b", "--user"), try("a word of the launcher", whole(), 2);
  reset(FOLDER, "A=b", "plugin"), try("a word without dashes", whole(), 2);
}

/* A worker can map memory only: Landlock refuses it the file. */
static int in_memory(const char *plugin) {
  int file = open(plugin, O_RDONLY | O_CLOEXEC), memory = memfd_create("plugin", MFD_CLOEXEC);
  if (file < 0 || memory < 0 || sendfile(memory, file, NULL, 1 << 20) <= 0) fail(plugin);
  close(file);
  return memory;
}

/* Starts a worker, and waits until it is confined.  Returns its pidfd. */
static int start(uint64_t request, const char *plugin) {
  int report[2], file = plugin ? in_memory(plugin) : -1;
  if (pipe2(report, O_CLOEXEC) != 0) fail("pipe2()");
  const int descriptors[] = {2, report[1], file};
  char text[] = "--plugin\0yes";
  if (!plugin) strcpy(text + 9, "no");
  struct CLaunching_start order = {.request = request, .memory = 64 << 20, .words = 2, .descriptors = plugin ? 3 : 2,
                                   .text = plugin ? sizeof text : sizeof text - 1};
  if (CLaunching_send(host, &order, text, descriptors) != 0) fail("START");
  close(report[1]);
  struct CLaunching_answer answer;
  int process = receive(&answer);
  if (process < 0) fail(answer.step);
  char block[4096];
  size_t length = 0;
  /* The plugin runs its constructor after this line. */
  while (length + 1 < sizeof block) {
    ssize_t count = read(report[0], block + length, sizeof block - 1 - length);
    if (count <= 0) break;
    length += (size_t)count;
    block[length] = 0;
    if (strstr(block, "\nconfined\n")) break;
  }
  /* Until this process ends, the pipe stays open: otherwise the worker's next line would end it. */
  return process;
}

/* Starts a launcher.  Returns its number. */
static pid_t launch(char **words) {
  int ends[2], launcher = CLaunching_open(words[2]), worker = CLaunching_open(words[3]), descriptor;
  if (launcher < 0 || worker < 0 || CLaunching_pair(ends) != 0) fail("the programs");
  host = ends[0];
  const char *const options[] = {"carabiner-launcher", "--read", FOLDER, NULL};
  pid_t process;
  if (CLaunching_launch(launcher, worker, ends[1], options, NULL, &process) != 0) fail("the launcher");
  close(ends[1]);
  struct CLaunching_hello hello;
  if (CLaunching_receive(host, 20000, &hello, sizeof hello, &descriptor) != sizeof hello) fail("HELLO");
  return process;
}

/* Waits until a process has ended, and prints how long that took. */
static void print_end(const char *name, int process, const struct timespec *killed) {
  if (!CLaunching_hasEnded(process, 20000)) fail(name);
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  long long microseconds = (time.tv_sec - killed->tv_sec) * 1000000ll + (time.tv_nsec - killed->tv_nsec) / 1000;
  printf("%s ended after %lld us\n", name, microseconds);
}

/* Kills a host whose worker runs, and which has forked a process that keeps the socket open. */
static int be_killed(char **words) {
  int ready[2], life[2];
  pid_t numbers[2];
  if (pipe(ready) != 0 || pipe(life) != 0) fail("pipe()");
  pid_t child = fork();
  if (child == 0) {
    close(life[1]);
    numbers[0] = launch(words);
    numbers[1] = CLaunching_processOf(start(7, words[4]));
    char byte;
    if (fork() == 0) _exit(read(life[0], &byte, 1) < 0);
    if (write(ready[1], numbers, sizeof numbers) != sizeof numbers) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  if (read(ready[0], numbers, sizeof numbers) != sizeof numbers) fail("the host");
  /* The launcher's starter has one child, the launcher. */
  char path[64], text[32] = "";
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", numbers[0], numbers[0]);
  int children = open(path, O_RDONLY);
  if (children < 0 || read(children, text, sizeof text - 1) <= 0) fail(path);
  int starter = pidfd_open(numbers[0], 0), launcher = pidfd_open(atoi(text), 0), worker = pidfd_open(numbers[1], 0);
  if (starter < 0 || launcher < 0 || worker < 0) fail("pidfd_open()");
  struct timespec killed;
  clock_gettime(CLOCK_MONOTONIC, &killed);
  kill(child, SIGKILL);
  print_end("worker", worker, &killed);
  print_end("launcher", launcher, &killed);
  print_end("starter", starter, &killed);
  return 0;
}

static int be_bad(char **words) {
  pid_t process = launch(words);
  send_bad();
  start(7, NULL);
  struct CLaunching_answer answer;
  receive(&answer);
  printf("then: %s %llu with %d\n", answer.kind == CLAUNCHING_ENDED ? "ended" : "another answer", (unsigned long long)answer.request,
         answer.code);
  close(host);
  int status = 0;
  if (waitpid(process, &status, 0) != process) fail("waitpid()");
  printf("launcher: %d\n", status);
  return 0;
}

int main(int count, char **words) {
  if (count == 5 && strcmp(words[1], "killed") == 0) return be_killed(words);
  return count == 4 && strcmp(words[1], "bad") == 0 ? be_bad(words) : 2;
}
