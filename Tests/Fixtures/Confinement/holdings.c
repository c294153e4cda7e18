/* A library whose constructor writes what its worker has, as lines of a name and a value.  READS and HIDDEN are paths. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;
enum { PLUGIN = 4 };

static void say(const char *name, long long value) { fprintf(stderr, "%s %lld\n", name, value); }

static void limit(const char *name, int resource) {
  struct rlimit limit = {0, 0};
  getrlimit(resource, &limit);
  say(name, limit.rlim_max == RLIM_INFINITY ? -1 : (long long)limit.rlim_max);
}

static void status(void) {
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (!strncmp(line, "CapEff:", 7) || !strncmp(line, "NoNewPrivs:", 11) || !strncmp(line, "Seccomp:", 8)) {
      char *colon = strchr(line, ':');
      fprintf(stderr, "%.*s %s", (int)(colon - line), line, colon + 2);
    }
  }
  if (file) fclose(file);
}

static void descriptors(void) {
  for (int file = 0; file < 64; file++) {
    char path[32], target[128];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 0) fprintf(stderr, "descriptor-%d %.*s\n", file, (int)strcspn(target, "["), (target[length] = 0, target));
  }
}

/* 1 if the bytes that were mapped can be changed. */
static int is_changeable(void) {
  int file = open("/proc/self/fd/4", O_RDWR | O_CLOEXEC);
  void *memory = mmap(NULL, 1, PROT_WRITE, MAP_SHARED, PLUGIN, 0);
  return write(PLUGIN, "x", 1) == 1 || (file >= 0 && write(file, "x", 1) == 1) || memory != MAP_FAILED || ftruncate(PLUGIN, 0) == 0;
}

static int reads(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) close(file);
  return file >= 0;
}

__attribute__((constructor)) static void write_all(void) {
  limit("core", RLIMIT_CORE);
  limit("file", RLIMIT_FSIZE);
  limit("descriptors", RLIMIT_NOFILE);
  limit("data", RLIMIT_DATA);
  limit("addresses", RLIMIT_AS);
  limit("threads", RLIMIT_NPROC);
  say("user", getuid());
  say("group", getegid());
  say("parent", getppid());
  say("process", getpid());
  status();
  descriptors();
  for (char **variable = environ; *variable; variable++) fprintf(stderr, "variable %s\n", *variable);
  char score[16] = "", folder[256] = "";
  int file = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
  if (file >= 0 && read(file, score, sizeof score - 1) > 0) fprintf(stderr, "score %s", score);
  fprintf(stderr, "folder %s\n", getcwd(folder, sizeof folder) ? folder : strerror(errno));
  say("changeable", is_changeable());
  say("reads", reads(READS));
  say("reads-hidden", reads(HIDDEN));
  say("priority", setpriority(PRIO_PROCESS, 0, -2));
  char *words[] = {"true", NULL};
  pid_t child;
  say("spawn", posix_spawn(&child, "/bin/true", NULL, NULL, words, environ));
  say("socket", socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0);
  void *much = malloc(300 << 20);
  say("much-memory", much != NULL);
  free(much);
}
