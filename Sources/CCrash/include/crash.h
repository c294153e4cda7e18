/* Notes which plugin's code each thread runs, for the report of a crash. */
#pragma once
#include <stdint.h>

/* A plugin whose code may run. */
typedef struct CCrash_subject {
  const struct CCrash_subject *next; /* of all there are */
  const char *entry;  /* the manifest's name; "" if it is not known yet */
  const char *file;   /* as the manifest names it */
  const char *digest; /* SHA-256 in digits; "" if there is none */
  uint64_t generation;
} CCrash_subject;

/* The work of a thread now. The lowest bits of the subject's address, a multiple of 32, hold the hook's number. One store
 * therefore sets both. */
typedef struct CCrash_work {
  uintptr_t subject;
  uint64_t request;
  int is_prepared;
} CCrash_work;

#define CCrash_ALIGNMENT 32

/* Initial-exec: an access takes two instructions and allocates nothing, as a signal handler requires. */
extern __thread CCrash_work CCrash_now __attribute__((tls_model("initial-exec")));
extern int CCrash_is_installed;

/* Notes that code of `subject` runs from here on, in the hook of this number, for this request. The compiler cannot move the
 * stores past the plugin's call, since for all it knows the callee reads them. */
static inline void CCrash_enter(uintptr_t subject, uintptr_t hook, uint64_t request) {
  CCrash_now.request = request;
  CCrash_now.subject = subject | hook;
}

static inline void CCrash_leave(void) { CCrash_now.subject = 0; }

/* For calls that may be nested in a plugin's code: the work before the call, to be restored after it. */
static inline CCrash_work CCrash_outer(void) { return CCrash_now; }
static inline void CCrash_restore(CCrash_work outer) {
  CCrash_now.request = outer.request;
  CCrash_now.subject = outer.subject;
}

/* Once per thread: unblocks the fatal signals and sets up an alternate signal stack, so that a stack overflow can be reported too. */
void CCrash_prepare(void);
static inline void CCrash_prepare_thread(void) {
  if (__builtin_expect(CCrash_is_installed && !CCrash_now.is_prepared, 0)) CCrash_prepare();
}

/* Returns a new subject's address, or 0 if there is no memory. Subjects are never freed: a timer may fire after its instance is gone. */
uintptr_t CCrash_new_subject(const char *entry, const char *file, const char *digest, uint64_t generation);

/* Notes the addresses of a library by its dlopen handle, so that a crash on a thread of its own can be attributed by the address of
 * the instruction. Libraries are never unmapped, so notes are never removed. */
void CCrash_note_library(void *handle, const char *entry, const char *file, const char *digest);

/* Installs the handlers for the fatal signals. `record` is a descriptor for machine-readable lines, or -1. A second call replaces
 * the descriptor. Returns 0, or -1 with errno. */
int CCrash_install(int record);
