/* What the conformance harness does below Swift, in the process that holds the plugin under test: signal handlers, memory
 * that reports who touches it, and a record that outlives it.
 *
 * Everything here is for one process that tests one plugin and then ends.  State is static for that reason, and because a
 * signal handler can reach nothing else. */
#ifndef CLABORATORY_H
#define CLABORATORY_H

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * The flight record: shared with the supervisor, which reads it when this process has died without a word.
 * ------------------------------------------------------------------------------------------------------------------- */

#define CLABORATORY_TEXT_MAX 120

/* Written by the child, believed by nobody: texts are cut and checked where they are read. */
struct CLaboratory_record {
  uint64_t hooks;                  /* how many hooks were called */
  char step[CLABORATORY_TEXT_MAX]; /* what the check was doing */
  char hook[CLABORATORY_TEXT_MAX]; /* the hook the plugin was in, empty between hooks */
  char nonce[CLABORATORY_TEXT_MAX]; /* from the supervisor: what marks the child's words; the child takes it out */
};

/* A descriptor of a new record, which no program started meanwhile inherits; -1 with errno. */
int CLaboratory_newRecord(void);
/* Maps the record behind a descriptor; NULL if that cannot be. */
struct CLaboratory_record *CLaboratory_mapRecord(int descriptor);
void CLaboratory_unmapRecord(struct CLaboratory_record *record);
/* Puts a text that is not NUL-terminated into one of the record's fields. */
void CLaboratory_note(char field[CLABORATORY_TEXT_MAX], const uint8_t *text, size_t count);

/* ---------------------------------------------------------------------------------------------------------------------
 * The trace: what happened last, behind the record in the same memory. Writing to it is no system call, so it may be done inside a hook.
 * ------------------------------------------------------------------------------------------------------------------- */

#define CLABORATORY_EVENT_TEXT_MAX 80
#define CLABORATORY_EVENTS 8192 /* the last so many are kept */

enum {
  CLABORATORY_BEGIN = 1, /* a hook or another function of the plugin */
  CLABORATORY_END = 2,
  CLABORATORY_USE = 3    /* a function of the host is called */
};

struct CLaboratory_event {
  uint64_t ns;     /* CLOCK_MONOTONIC */
  uint32_t thread;
  uint32_t kind;   /* CLABORATORY_*; 0: nothing yet */
  char text[CLABORATORY_EVENT_TEXT_MAX];
};

struct CLaboratory_trace {
  uint64_t count; /* how many events there were; event n stands at n % CLABORATORY_EVENTS */
  struct CLaboratory_event events[CLABORATORY_EVENTS];
};

struct CLaboratory_memory {
  struct CLaboratory_record record;
  struct CLaboratory_trace trace;
};

/* From now on events are kept behind this record. */
void CLaboratory_openTrace(struct CLaboratory_record *record);
/* How many events there were, by the trace's own word. */
uint64_t CLaboratory_eventCount(const struct CLaboratory_record *record);
/* Event n, where it stands. */
struct CLaboratory_event CLaboratory_eventAt(const struct CLaboratory_record *record, uint64_t n);
/* Keeps an event; does nothing unless a trace is open. Any thread. */
void CLaboratory_event(uint32_t kind, const uint8_t *text, size_t count);
/* Whether a trace is open. */
int CLaboratory_isTracing(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * Guarded memory: pages that report a touch they should not get, and then let it happen.
 * ------------------------------------------------------------------------------------------------------------------- */

/* What was wrong with a touch. */
enum {
  CLABORATORY_BEYOND = 1, /* outside the bytes that were handed out */
  CLABORATORY_WRITTEN = 2,/* inside, but they were for reading */
  CLABORATORY_LATE = 3,   /* after they were taken back */
  CLABORATORY_FREED = 4   /* memory of the plugin's own that it has freed; at -1: it is freed once more */
};

/* The number of a region that was removed, and of memory that is no region. */
#define CLABORATORY_REMOVED UINT32_MAX

struct CLaboratory_touch {
  uint32_t kind;   /* CLABORATORY_* */
  uint32_t region; /* the region's number */
  int64_t offset;  /* from the first byte that was handed out */
};

/* From now on touches are caught. 0, or -1 with errno. */
int CLaboratory_catchTouches(void);
/* Maps room for `count` bytes that end where an unreadable page begins, and gives the first of them, zeroed and writable;
 * NULL if memory or regions are exhausted. */
void *CLaboratory_newRegion(size_t count, uint32_t *region);
/* From now on the bytes may be read, and nothing else. */
void CLaboratory_protectRegion(uint32_t region);
/* From now on they may not be touched at all. */
void CLaboratory_endRegion(uint32_t region);
/* Gives the pages back; its number is used again, its addresses are not. */
void CLaboratory_removeRegion(uint32_t region);
/* Moves the touches that were caught since the last call to `out`, and gives how many; further ones are dropped. */
size_t CLaboratory_takeTouches(struct CLaboratory_touch *out, size_t capacity);

/* ---------------------------------------------------------------------------------------------------------------------
 * The end of the process
 * ------------------------------------------------------------------------------------------------------------------- */

/* Makes SIGABRT write the stack of the thread it reaches to `descriptor` before the process ends by it. */
void CLaboratory_traceOnAbort(int descriptor);

/* ---------------------------------------------------------------------------------------------------------------------
 * Imports: calls of the plugin into libc, counted and made to fail
 * ------------------------------------------------------------------------------------------------------------------- */

/* Makes the library that holds `inside` call `replacement` instead of the function `name`; gives how many places changed.
 * `original` is set to what stood there, if anything did. */
int CLaboratory_replaceImport(const void *inside, const char *name, void *replacement, void **original);

/* Counts the allocations of the library that holds `inside` from now on; the number of its imports that are watched. */
int CLaboratory_watchAllocations(const void *inside);
/* How often it has allocated since; and from now on, every `interval`th allocation fails (0: none does). */
uint64_t CLaboratory_allocations(void);
void CLaboratory_failAllocations(uint64_t interval);

/* The byte that fills memory nobody has written to yet. */
#define CLABORATORY_UNWRITTEN 0xA5

/* Gives the library that holds `inside` memory that is full of CLABORATORY_UNWRITTEN, and reports a touch after it was freed as
 * CLABORATORY_FREED.  `is_ours` as for CLaboratory_watchFrees().  The number of its imports that are watched. */
int CLaboratory_watchHeap(const void *inside, int (*is_ours)(const void *memory));

/* Counts the locks this thread holds through the library that holds `inside`; the number of its imports that are watched. */
int CLaboratory_watchLocks(const void *inside);
int64_t CLaboratory_heldLocks(void);

/* Makes the library that holds `inside` ask before it frees: what is the host's is reported and not freed.  `is_ours` is called
 * with every address it gives to free() or to operator delete, on the thread that does; non-zero: not the plugin's.  Gives the
 * number of its imports that are watched. */
int CLaboratory_watchFrees(const void *inside, int (*is_ours)(const void *memory));

/* Keeps which functions the library that holds `inside` calls on this thread that change the thread or the process, and leave no trace
 * to compare, or are refused here.  Gives the number of its imports that are watched. */
int CLaboratory_watchChanges(const void *inside);
/* Takes the name of one of them; NULL if there is none any more. */
const char *CLaboratory_takeChange(void);

/* Counts what the library that holds `inside` registers from now on to be run when the process ends or forks; the number of its
 * imports that are watched. */
int CLaboratory_watchHandlers(const void *inside);
/* Functions, as by atexit() and pthread_atfork(). */
uint64_t CLaboratory_exitHandlers(void);
/* Destructors of static objects, which languages register. */
uint64_t CLaboratory_exitObjects(void);

/* From now on the threads are known by their numbers that libdispatch starts: the pool on which Swift's tasks run, one for the whole
 * process, whoever's tasks they are.  Gives the number of places that are watched; none if there is no such library. */
int CLaboratory_watchPool(void);
int CLaboratory_isOfPool(int thread);

/* ---------------------------------------------------------------------------------------------------------------------
 * The process and this thread as they are now
 * ------------------------------------------------------------------------------------------------------------------- */

/* How this thread rounds, and whether it takes denormal numbers for zero; without what only says what has happened. */
uint64_t CLaboratory_floatControl(void);
/* How many keys for memory of threads can still be made. */
size_t CLaboratory_freeThreadKeys(void);
/* The array of the environment. */
const void *CLaboratory_environment(void);
/* A number for what a signal does, and one for the stack its handlers run on; 0 for none. */
uint64_t CLaboratory_signalAction(int signal);
uint64_t CLaboratory_signalStack(void);
/* Which interval timers run, as bits: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF. */
uint32_t CLaboratory_intervalTimers(void);
/* Writes the names of all libraries to `out`, each with a line feed; gives how many were loaded since the process began. */
uint64_t CLaboratory_libraries(char *out, size_t capacity);

/* ---------------------------------------------------------------------------------------------------------------------
 * Libraries
 * ------------------------------------------------------------------------------------------------------------------- */

/* Where an address lies. */
enum {
  CLABORATORY_NOWHERE = 0,    /* nothing is mapped there */
  CLABORATORY_SAME = 1,       /* in the library that holds the other address */
  CLABORATORY_OTHER = 2,      /* in another library, or in the program */
  CLABORATORY_ON_STACK = 3,   /* on the stack of the calling thread */
  CLABORATORY_ON_HEAP = 4     /* mapped, and of no file */
};

int CLaboratory_place(const void *inside, const void *address);
/* A file in memory with these bytes, which dlopen() can map by its name in /proc/self/fd; it stays open.  -1 with errno. */
int CLaboratory_memoryFile(const void *bytes, size_t count);

/* ---------------------------------------------------------------------------------------------------------------------
 * Trials within a trial
 * ------------------------------------------------------------------------------------------------------------------- */

/* Runs `body` in a copy of this process, which has this thread alone, and gives how that ended as waitpid() does; -1 with errno. */
int CLaboratory_runApart(void (*body)(void *context), void *context);
/* How many bytes are allocated in this process, exactly. */
size_t CLaboratory_heapInUse(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * System calls of this thread
 * ------------------------------------------------------------------------------------------------------------------- */

/* Counts the system calls this thread makes between begin and end, and lets them happen. -1 where the kernel or the machine
 * cannot tell. `first` is set to the number of the first one. */
int CLaboratory_beginSystemCalls(void);
int64_t CLaboratory_endSystemCalls(int64_t *first);

#endif
