/* The messages between the host and carabiner-launcher, and how the host starts it.
 *
 * They are datagrams of a SEQPACKET socket pair.  The launcher first sends HELLO.  The host sends START with the descriptors of a worker,
 * and the launcher answers each with STARTED and a pidfd, or with FAILED.  When a worker ends, the launcher sends ENDED.  When the socket
 * closes, the launcher ends, and all its workers with it. */
#ifndef CLAUNCHING_H
#define CLAUNCHING_H

#include <stddef.h>
#include <stdint.h>

enum { CLAUNCHING_VERSION = 1 };
/* The version of Carabiner.  A test compares it with that of `carabiner --version`. */
#define CLAUNCHING_BUILD "1.0.0"

enum CLaunching_kind {
  CLAUNCHING_HELLO = 1,
  CLAUNCHING_START = 2,
  CLAUNCHING_STARTED = 3,
  CLAUNCHING_FAILED = 4,
  CLAUNCHING_ENDED = 5
};

/* The layers that a launcher makes. */
enum { CLAUNCHING_NAMESPACES = 1 << 0, CLAUNCHING_ROOT = 1 << 1 };

/* The limits of one START, and of a launcher. */
enum {
  CLAUNCHING_MOST_FOLDERS = 256,
  CLAUNCHING_MOST_VARIABLES = 64,
  CLAUNCHING_MOST_WORDS = 64,
  CLAUNCHING_MOST_DESCRIPTORS = 60, /* A worker may have 64, and 0 and 2 are not in a START. */
  CLAUNCHING_MOST_TEXT = 64 << 10,
  CLAUNCHING_MOST_WORKERS = 256     /* of one launcher, at the same time */
};
enum { CLAUNCHING_LEAST_MEMORY = 16 << 20 };
#define CLAUNCHING_MOST_MEMORY (1ull << 44)

enum { CLAUNCHING_STEP = 80, CLAUNCHING_BUILD_SIZE = 32 };

/* The first three fields are the same in every version, so that a host can name the version of another launcher. */
struct CLaunching_hello {
  uint32_t kind, version;
  char build[CLAUNCHING_BUILD_SIZE];
  uint32_t layers;
  /* Why a layer is missing: the step that failed, and its errno, or 0. */
  int32_t namespaces_code, root_code;
  uint32_t reserved;
  char namespaces_step[CLAUNCHING_STEP], root_step[CLAUNCHING_STEP];
};
enum { CLAUNCHING_HELLO_PREFIX = 2 * sizeof(uint32_t) + CLAUNCHING_BUILD_SIZE };

/* A text follows: the folders, the variables and the words, each ending in NUL.  The first descriptor becomes 1 and 2 of the worker, the
 * others become 3, 4, 5... */
struct CLaunching_start {
  uint32_t kind;
  uint32_t is_strict;                        /* 0: the worker uses the layers that this system has */
  uint64_t request;                          /* a number that no worker of this launcher has */
  uint64_t memory;                           /* bytes of writable memory */
  uint32_t folders, variables, words, descriptors;
  uint32_t text;                             /* bytes */
  uint32_t reserved;
};

struct CLaunching_answer {
  uint32_t kind;
  int32_t code;     /* STARTED: the number of the process in the launcher's namespace.  FAILED: errno.  ENDED: the status of wait() */
  uint64_t request; /* FAILED: 0 if the START was too short to have one */
  uint64_t user, system; /* ENDED: microseconds of processor time */
  uint64_t kilobytes;    /* ENDED: the most memory that was resident */
  char step[CLAUNCHING_STEP]; /* FAILED: the step that failed */
};

_Static_assert(sizeof(struct CLaunching_hello) == 216, "The layout of HELLO is fixed.");
_Static_assert(sizeof(struct CLaunching_start) == 48, "The layout of START is fixed.");
_Static_assert(sizeof(struct CLaunching_answer) == 120, "The layout of the answers is fixed.");

/* ---- The host's side.  Errors are -1 with errno. ---- */

/* Makes a pair of sockets that no program inherits. */
int CLaunching_pair(int ends[2]);

/* Opens a program.  The descriptor is kept, so an upgrade of the file changes nothing. */
int CLaunching_open(const char *path);

/* Starts a launcher, which has `socket` as descriptor 3, from the descriptors of its program and of the worker's.  `words` begins with the
 * name of the program and ends with NULL; the words of the descriptors are added.  Of the environment it gets only what workers get.
 * `runtime` is the folder of the Swift libraries for plugins if this process has mapped none; NULL if there is none.
 * It ends with the thread that calls this.  Returns 0, or -1 with errno. */
enum { CLAUNCHING_MOST_LAUNCHER_WORDS = 8 + 2 * CLAUNCHING_MOST_FOLDERS };
int CLaunching_launch(int launcher, int worker, int socket, const char *const *words, const char *runtime, int32_t *process);

/* Sends a START without waiting.  `start` has the counts; fills in `kind`.  Returns 0, or -1 with errno: EAGAIN if the launcher does not
 * read. */
int CLaunching_send(int socket, const struct CLaunching_start *start, const char *text, const int *descriptors);

/* Receives a datagram, and closes the descriptors that came with it, except that of a STARTED.  Waits without a limit if `milliseconds`
 * is negative.  Returns its length; 0 if the launcher has closed its end; -1 with errno, ETIMEDOUT after the time. */
ptrdiff_t CLaunching_receive(int socket, int milliseconds, void *bytes, size_t capacity, int *descriptor);

/* The number of a process in the host's namespace, which the launcher does not know; -1 if it has ended. */
int32_t CLaunching_processOf(int pidfd);
/* Sends a signal to a process, which cannot be another one with the same number. */
int CLaunching_signal(int pidfd, int signal);
/* Whether a process has ended within a time. */
int CLaunching_hasEnded(int pidfd, int milliseconds);

#endif
