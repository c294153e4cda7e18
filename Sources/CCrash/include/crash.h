/* What a thread is doing for a plugin, and who is told when it dies of it. */
#pragma once
#include <stdint.h>

/* Who a plugin's code belongs to. */
typedef struct CCrash_subject {
  const struct CCrash_subject *next; /* of all there are */
  const char *entry;  /* the manifest's name; "" if it is not known yet */
  const char *file;   /* as the manifest names it */
  const char *digest; /* SHA-256 in digits; "" if there is none */
  uint64_t generation;
} CCrash_subject;

/* What a thread does now. The hook's number stands in the last bits of the subject's address, which is a multiple of 32: to note
 * both is one store. */
typedef struct CCrash_work {
  uintptr_t subject;
  uint64_t request;
  int is_prepared;
} CCrash_work;

#define CCrash_ALIGNMENT 32

/* Initial-exec: two instructions to reach it, and nothing that could allocate in a signal handler. */
extern __thread CCrash_work CCrash_now __attribute__((tls_model("initial-exec")));
extern int CCrash_is_installed;

/* Notes that code of `subject` runs from here on, in the hook of this number, for this request. What is called then may look at the
 * note for all a compiler knows, so it is there before and goes after. */
static inline void CCrash_enter(uintptr_t subject, uintptr_t hook, uint64_t request) {
  CCrash_now.request = request;
  CCrash_now.subject = subject | hook;
}

static inline void CCrash_leave(void) { CCrash_now.subject = 0; }

/* For what may be called from within a plugin's code: what the thread was doing, to be given back. */
static inline CCrash_work CCrash_outer(void) { return CCrash_now; }
static inline void CCrash_restore(CCrash_work outer) {
  CCrash_now.request = outer.request;
  CCrash_now.subject = outer.subject;
}

/* Lets the fatal signals through to this thread, once, and gives it a stack to die on: a plugin that has used up its own is named too. */
void CCrash_prepare(void);
static inline void CCrash_prepare_thread(void) {
  if (__builtin_expect(CCrash_is_installed && !CCrash_now.is_prepared, 0)) CCrash_prepare();
}

/* A new subject's address. It is never freed: a timer a plugin has armed may go off after its instance is gone. 0 if there is no memory. */
uintptr_t CCrash_new_subject(const char *entry, const char *file, const char *digest, uint64_t generation);

/* Notes where a library lies, whose handle is that of dlopen, so that threads of its own can be told by the instruction they died at.
 * Libraries are never unmapped, and neither is the note of one. */
void CCrash_note_library(void *handle, const char *entry, const char *file, const char *digest);

/* Takes over the fatal signals. `record` is a descriptor for a line a machine reads; -1 for none. Installed twice, the later record
 * counts. 0, or -1 with errno. */
int CCrash_install(int record);
