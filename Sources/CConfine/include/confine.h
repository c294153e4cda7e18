/* Confines a process that runs untrusted code: a child of the harness, or a worker of the host, which maps a plugin.
 *
 * A profile is a table of system calls in calls.c.  The process confines itself after exec, while it has one thread, and before it
 * maps a plugin: constructors already run confined.  The state is static, because a signal handler needs it and confinement cannot
 * be undone.  A worker is also in the namespaces and the root that its launcher made, with the functions at the end. */
#ifndef CCONFINE_H
#define CCONFINE_H

#include <stddef.h>
#include <stdint.h>

/* The permitted system calls. */
enum CConfine_profile {
  CCONFINE_HARNESS = 1, /* a trial of the harness: it may fork, create files in its folder, and change its own process */
  CCONFINE_WORKER = 2   /* a worker of the host: it has threads, memory and time, and changes nothing */
};

/* The layers.  CConfine_confine() tries something forbidden for each one, and returns those that withstood. */
enum {
  CCONFINE_CALLS = 1 << 0,       /* seccomp: only the calls of the profile */
  CCONFINE_FILES = 1 << 1,       /* Landlock: reads only named files, writes only in its folder; no TCP, no signals to others */
  CCONFINE_PRIVILEGES = 1 << 2,  /* no capabilities, and none by exec */
  CCONFINE_LIMITS = 1 << 3,      /* every limit is at most as high as asked for */
  CCONFINE_DESCRIPTORS = 1 << 4, /* no descriptors except the kept ones */
  CCONFINE_USER = 1 << 5,        /* not root */
  CCONFINE_SESSION = 1 << 6,     /* a session of its own, so no terminal */
  CCONFINE_NAMESPACES = 1 << 7,  /* user, network, IPC and UTS namespaces of its own; of a worker also PID, mount and cgroup ones */
  CCONFINE_ROOT = 1 << 8,        /* a read-only root of its own, with the readable files only; of a worker */
  CCONFINE_LAYER_COUNT = 9
};

/* 0 leaves a limit unchanged. */
struct CConfine_limits {
  uint64_t data;        /* bytes of writable memory */
  uint64_t addresses;   /* bytes of address space */
  uint64_t file;        /* bytes of one file; a worker writes no files, so its limit is always 0 */
  uint64_t descriptors; /* open at once */
  uint64_t processor;   /* seconds of processor time */
  uint64_t processes;   /* processes and threads; applied only in a user namespace, as the kernel otherwise counts all of the user's */
};

/* The namespaces and the root of the process that started the launcher.  A worker compares them with its own. */
enum { CCONFINE_NAMESPACE_COUNT = 7 };
struct CConfine_place {
  uint64_t namespaces[CCONFINE_NAMESPACE_COUNT]; /* 0: unknown */
  uint64_t root_device, root_file;
};

/* The call or the try that failed, and its errno, or 0. */
struct CConfine_failure {
  char step[80];
  int code;
};

/* How the launcher of a worker started it. */
struct CConfine_launch {
  struct CConfine_place outside;
  uint32_t layers;                           /* those that it made: CCONFINE_NAMESPACES, CCONFINE_ROOT, or none */
  struct CConfine_failure namespaces, root;  /* why one of them is missing */
};

struct CConfine_settings {
  enum CConfine_profile profile;
  int32_t parent;       /* this process ends with this parent; 0: it does not */
  uint32_t user;        /* the new user of a process of root */
  uint32_t group;
  const char *folder;   /* the folder in which files may be created, changed and removed; NULL: none */
  const char *readable; /* further files and folders that may be read: NUL-terminated paths, the last one empty */
  const int *kept;      /* the descriptors that stay open, in rising order */
  size_t kept_count;
  struct CConfine_limits limits;
  const struct CConfine_launch *launch; /* of a worker; NULL in the harness, whose process makes namespaces itself */
};

/* Confines this process and its children.  It cannot be undone.  Returns the layers in force, as bits. */
uint32_t CConfine_confine(const struct CConfine_settings *settings);
/* The layers in force; 0 before CConfine_confine(). */
uint32_t CConfine_layers(void);
/* The layers that untrusted code requires and that are not among `layers`.  The others are additional protection: an ordinary user is
 * not root anyway, and many systems have no user namespaces.  For a worker, a root of its own is enough instead of Landlock. */
uint32_t CConfine_missing(enum CConfine_profile profile, uint32_t layers);
/* Writes why a layer is not in force, and what to do about it, as one line that ends in NUL.  Returns its length; 0 if there is no
 * reason, because the layer is in force or because the profile does not have it. */
size_t CConfine_explain(uint32_t layer, char *text, size_t capacity);
/* The name of a layer in messages; NULL if `layer` is not one bit of them. */
const char *CConfine_layerName(uint32_t layer);

/* A system call that was refused. */
struct CConfine_refusal {
  int64_t number;
  uint64_t count;
  uint64_t address; /* of the instruction, the first time */
};

/* Copies the calls refused so far in this process and its copies, each number once, and returns how many there are.  Those beyond
 * `capacity` are not copied.  A call that concerns only the process itself, such as raise() in a copy, is refused but not counted. */
size_t CConfine_refusals(struct CConfine_refusal *out, size_t capacity);
/* Sets the function to call for each refused call from now on.  It runs in the handler of the signal, so it may only call
 * async-signal-safe functions, and several threads may run it at once. */
void CConfine_onRefusal(void (*function)(int64_t number, uint64_t address));
/* The name of a system call of this machine, as in its manual page; NULL if the number is not known. */
const char *CConfine_callName(int64_t number);

/* For the launcher, a process with one thread. */

/* Notes the namespaces and the root of this process. */
void CConfine_look(struct CConfine_place *place);
/* Copies this process like fork().  The copy is process 1 of namespaces of its own: with CCONFINE_NAMESPACES all but the mount
 * namespace, with CCONFINE_ROOT that one too.  Returns -1 with errno if the kernel refuses it. */
int32_t CConfine_forkApart(uint32_t layers);
/* Completes the namespaces in the copy: the user keeps its number, and with CCONFINE_ROOT the copy gets an empty read-only root with the
 * libraries of the system, `readable` as in CConfine_settings, and a /proc of its namespace.  Drops all capabilities.  After a failure
 * the copy must end, because it may have no files.  Returns 0, or -1 with the reason. */
int CConfine_settle(uint32_t layers, uint32_t user, uint32_t group, const char *readable, struct CConfine_failure *why);
/* If this process is root, changes to another user.  This cannot be undone.  Returns 0, or -1 with errno. */
int CConfine_becomeUser(uint32_t user, uint32_t group);

#endif
