#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launching.h"

extern char **environ;

/* The descriptors of a launcher. */
enum { SOCKET = 3, WORKER = 4, LAUNCHER = 5, END = 6 };
/* Above the descriptors of a launcher, so that none is overwritten before it is copied. */
enum { FIRST_SPARE = 16 };

int CLaunching_open(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC), code = errno;
  if (file < 0 || file >= FIRST_SPARE) return errno = code, file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, FIRST_SPARE);
  code = errno;
  close(file);
  return errno = code, moved;
}

/* Finds the folder of the Swift runtime that this process has mapped, if it is where toolchains put it: elsewhere, other files than
 * libraries could be beside it.  Returns 0 if there is none. */
static int find_runtime(char folder[PATH_MAX]) {
  static const char end[] = "/swift/linux";
  Dl_info library;
  void *function = dlsym(RTLD_DEFAULT, "swift_retain");
  if (!function || !dladdr(function, &library) || !library.dli_fname || !realpath(library.dli_fname, folder)) return 0;
  char *name = strrchr(folder, '/');
  *name = 0;
  return name - folder >= (ptrdiff_t)sizeof end && strcmp(name - (sizeof end - 1), end) == 0;
}

/* LD_LIBRARY_PATH with the Swift runtime of this process, or with the folder of another one.  Plugins in Swift need it, and do not name it if
 * a host can map them itself.  Returns 0 if the variable is to stay as it is. */
static int add_runtime(char *to, size_t capacity, const char *variable, const char *other) {
  char found[PATH_MAX];
  const char *folder = find_runtime(found) ? found : other;
  if (!folder) return 0;
  const char *colon = variable && variable[strlen(variable) - 1] != '=' ? ":" : "";
  return (size_t)snprintf(to, capacity, "%s%s%s", variable ? variable : "LD_LIBRARY_PATH=", colon, folder) < capacity;
}

/* The variables that workers get too.  The launcher has no others: some are secrets. */
static void fill_environment(char *environment[3]) {
  static const char *const names[] = {"TZ=", "LD_LIBRARY_PATH="};
  size_t count = 0;
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    for (char **variable = environ; *variable; variable++) {
      if (strncmp(*variable, names[index], strlen(names[index])) != 0) continue;
      environment[count++] = *variable;
      break;
    }
  }
  environment[count] = NULL;
}

static int fill_words(const char *const *words, const char **all) {
  size_t count = 0;
  for (; words[count]; count++) {
    if (count == CLAUNCHING_MOST_LAUNCHER_WORDS) return errno = E2BIG, -1;
    all[count] = words[count];
  }
  static const char *const added[] = {"--serve", "3", "--worker", "4", NULL};
  memcpy(all + count, added, sizeof added);
  return 0;
}

/* Signals that the host blocks or ignores are reset, and the launcher gets a session, so it does not get those of a terminal. */
static int set_attributes(posix_spawnattr_t *attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int code = posix_spawnattr_setsigmask(attributes, &none);
  if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
  if (code == 0) code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  return code;
}

static int set_actions(posix_spawn_file_actions_t *actions, const int sources[3]) {
  int code = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  /* The messages of the launcher are for the log of the host. */
  if (code == 0 && fcntl(2, F_GETFD) < 0) code = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(actions, 2, 1);
  for (int index = 0; code == 0 && index < END - SOCKET; index++) {
    code = posix_spawn_file_actions_adddup2(actions, sources[index], SOCKET + index);
  }
  return code ? code : posix_spawn_file_actions_addclosefrom_np(actions, END);
}

int CLaunching_launch(int launcher, int worker, int socket, const char *const *words, const char *runtime, int32_t *process) {
  const char *all[CLAUNCHING_MOST_LAUNCHER_WORDS + 5];
  if (fill_words(words, all) != 0) return -1;
  char *environment[3], program[32], libraries[32 << 10];
  fill_environment(environment);
  size_t place = 0;
  while (environment[place] && strncmp(environment[place], "LD_LIBRARY_PATH=", 16) != 0) place++;
  if (add_runtime(libraries, sizeof libraries, environment[place], runtime)) {
    if (!environment[place]) environment[place + 1] = NULL;
    environment[place] = libraries;
  }
  /* The program's own descriptor: its path may have another version by now. */
  snprintf(program, sizeof program, "/proc/self/fd/%d", LAUNCHER);
  int spare = fcntl(socket, F_DUPFD_CLOEXEC, FIRST_SPARE);
  if (spare < 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int code = posix_spawn_file_actions_init(&actions);
  if (code == 0) {
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
      const int sources[] = {spare, worker, launcher};
      code = set_actions(&actions, sources);
      if (code == 0) code = set_attributes(&attributes);
      if (code == 0) code = posix_spawn(process, program, &actions, &attributes, (char *const *)all, environment);
      posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  close(spare);
  return code == 0 ? 0 : (errno = code, -1);
}
