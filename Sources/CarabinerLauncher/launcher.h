/* Declarations that the files of the launcher share. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine.h"

/* The exit statuses. */
enum {
  DONE = 0,         /* the worker is confined, and has mapped the plugin if there is one */
  FAILED = 1,       /* the worker could not be started, or ended too early */
  WRONG_USAGE = 2,
  NOT_CONFINED = 3, /* a required layer is missing */
  NOT_MAPPED = 4    /* the plugin could not be mapped, or ended its worker */
};

enum { MOST_FOLDERS = 256, MOST_READABLE = 192 << 10 };

struct options {
  uid_t user; /* of the workers, if root starts the launcher */
  gid_t group;
  uint64_t memory;
  uint64_t seconds;
  const char *confine; /* strict or available */
  const char *plugin;  /* NULL: none */
  int worker;          /* the descriptor of carabiner-worker; -1: the file beside the launcher */
  /* Files and folders that workers may read, beside the libraries of the system: NUL-terminated paths, the last one empty. */
  char readable[MOST_READABLE];
  size_t readable_length, folders;
};

/* The files of a worker.  Both descriptors stay open, so an upgrade of the files changes nothing. */
struct program {
  int worker, plugin; /* plugin is -1 if there is none */
};

/* Reads the words of the command line.  Returns -1, or the status with which to end. */
int take_options(struct options *options, int count, char **words);

/* Opens the worker's program, and copies the plugin into sealed memory.  Returns 0, or -1 after it printed why. */
int open_program(const struct options *options, struct program *program);

/* Above the descriptors that a worker has. */
enum { FIRST_DESCRIPTOR = 16 };
/* Gives a descriptor a number from FIRST_DESCRIPTOR on, which exec closes.  Returns it, or -1 with errno. */
int move_up(int descriptor);

/* Starts a worker, waits for its end, and prints what it reports.  Returns an exit status. */
int run_worker(const struct options *options, const struct program *program, const struct CConfine_launch *launch);

/* Prints a message about the launcher itself. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
