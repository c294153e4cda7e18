/* Declarations that the files of the launcher share. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine.h"
#include "launching.h"

/* The exit statuses. */
enum {
  DONE = 0,         /* the worker is confined, and has mapped the plugin if there is one; a service: its socket is closed */
  FAILED = 1,       /* the worker could not be started, or ended too early */
  WRONG_USAGE = 2,
  NOT_CONFINED = 3, /* a required layer is missing */
  NOT_MAPPED = 4    /* the plugin could not be mapped, or ended its worker */
};

enum { MOST_FOLDERS = CLAUNCHING_MOST_FOLDERS, MOST_READABLE = 192 << 10 };

struct options {
  uid_t user; /* of the workers, if root starts the launcher */
  gid_t group;
  uint64_t memory;
  uint64_t seconds;
  const char *confine; /* strict or available */
  const char *plugin;  /* NULL: none */
  int worker;          /* the descriptor of carabiner-worker; -1: the file beside the launcher */
  int serve;           /* the descriptor of the socket on which a host asks for workers; -1: one worker is started */
  /* Files and folders that workers may read, beside the libraries of the system: NUL-terminated paths, the last one empty. */
  char readable[MOST_READABLE];
  size_t readable_length, folders;
  size_t libraries; /* the place in `readable` from which on the folders are those of LD_LIBRARY_PATH */
};

/* The files of a worker.  The descriptors stay open, so an upgrade of the files changes nothing. */
struct program {
  int worker, plugin; /* plugin is -1 if there is none */
  int socket;         /* of a service, else -1 */
};

/* Reads the words of the command line.  Returns -1, or the status with which to end. */
int take_options(struct options *options, int count, char **words);

/* Opens the worker's program, and copies the plugin into sealed memory.  Returns 0, or -1 after it printed why. */
int open_program(const struct options *options, struct program *program);

/* Above the descriptors that a worker has. */
enum { FIRST_DESCRIPTOR = 64 };
/* Gives a descriptor a number from FIRST_DESCRIPTOR on, which exec closes.  Returns it, or -1 with errno. */
int move_up(int descriptor);

/* The settings of a worker. */
struct order {
  uint64_t request, memory;
  const char *confine; /* strict or available */
  const char *folders[MOST_FOLDERS], *variables[CLAUNCHING_MOST_VARIABLES], *words[CLAUNCHING_MOST_WORDS];
  size_t folder_count, variable_count, word_count;
};

/* Reads a START.  Returns 0, or an errno and the step that failed.  `order` then points into the message. */
int take_order(struct order *order, const struct CLaunching_start *start, const char *text, size_t length, size_t descriptors,
               const struct options *options, char step[CLAUNCHING_STEP]);

/* The command line of a worker. */
struct command {
  char parent[16], user[32], memory[24], layers[16], outside[256], namespaces[128], root[128];
  char *words[24 + 2 * MOST_FOLDERS + CLAUNCHING_MOST_WORDS];
  char *environment[4 + CLAUNCHING_MOST_VARIABLES];
};
void fill_command(struct command *command, const struct order *order, const struct options *options, const struct CConfine_launch *how);
/* Whether a worker gets a word from its launcher, and so not from the host. */
int is_own_word(const char *word);

/* Starts a worker, waits for its end, and prints what it reports.  Returns an exit status. */
int run_worker(const struct options *options, const struct program *program, const struct CConfine_launch *launch);

/* Starts workers as the host asks for them, until the socket closes.  Returns an exit status. */
int serve(const struct options *options, const struct program *program, const struct CConfine_launch *launch);

/* Prints a message about the launcher itself. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
