/* Confines a process that runs untrusted code: the child of the harness that maps a plugin.
 *
 * A profile is a table of system calls in calls.c.  Everything else is the same for all profiles.  The process confines itself after
 * exec, while it has one thread, and before it maps a plugin: constructors already run confined.  The state is static, because a
 * signal handler needs it and confinement cannot be undone. */
#ifndef CCONFINE_H
#define CCONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The permitted system calls. */
enum CConfine_profile {
  CCONFINE_HARNESS = 1 /* a trial of the harness: it may fork, create files in its folder, and change its own process */
};

/* The layers.  CConfine_confine() tests each one and returns those in force. */
enum {
  CCONFINE_CALLS = 1 << 0,       /* seccomp: only the calls of the profile */
  CCONFINE_FILES = 1 << 1,       /* Landlock: reads only named files, writes only in its folder; no TCP, no signals to others */
  CCONFINE_PRIVILEGES = 1 << 2,  /* no capabilities, and none by exec */
  CCONFINE_LIMITS = 1 << 3,      /* every limit is at most as high as asked for */
  CCONFINE_DESCRIPTORS = 1 << 4, /* no descriptors except the kept ones */
  CCONFINE_USER = 1 << 5,        /* not root */
  CCONFINE_SESSION = 1 << 6,     /* a session of its own, so no terminal */
  CCONFINE_NAMESPACES = 1 << 7,  /* user, network, IPC and UTS namespaces of its own */
  /* The layers that untrusted code requires.  The others are additional protection: an ordinary user is not root anyway, and many
   * systems have no user namespaces. */
  CCONFINE_REQUIRED = CCONFINE_CALLS | CCONFINE_FILES | CCONFINE_PRIVILEGES | CCONFINE_LIMITS | CCONFINE_DESCRIPTORS
};

/* 0 leaves a limit unchanged. */
struct CConfine_limits {
  uint64_t data;        /* bytes of writable memory */
  uint64_t addresses;   /* bytes of address space */
  uint64_t file;        /* bytes of one file */
  uint64_t descriptors; /* open at once */
  uint64_t processor;   /* seconds of processor time */
  uint64_t processes;   /* processes and threads; applied only in a user namespace, as the kernel otherwise counts all of the user's */
};

struct CConfine_settings {
  enum CConfine_profile profile;
  pid_t parent;         /* this process ends with this parent; 0: it does not */
  uid_t user;           /* the new user of a process of root */
  gid_t group;
  const char *folder;   /* the folder in which files may be created, changed and removed; NULL: none */
  const char *readable; /* further files and folders that may be read: NUL-terminated paths, the last one empty */
  const int *kept;      /* the descriptors that stay open, in rising order */
  size_t kept_count;
  struct CConfine_limits limits;
};

/* Confines this process and its children.  It cannot be undone.  Returns the layers in force, as bits. */
uint32_t CConfine_confine(const struct CConfine_settings *settings);
/* The layers in force; 0 before CConfine_confine(). */
uint32_t CConfine_layers(void);
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
/* The name of a system call of this machine, as in its manual page; NULL if the number is not known. */
const char *CConfine_callName(int64_t number);

#endif
