/* The C parts of the conformance harness, in the process that holds the plugin under test: signal handlers, guarded memory, and a record
 * that outlives the process.
 *
 * The process tests one plugin and then ends.  State is static for that reason, and because a signal handler needs it. */
#ifndef CTESTHOST_H
#define CTESTHOST_H

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * The flight record: shared with the supervisor, which reads it when this process has died without a report.
 * ------------------------------------------------------------------------------------------------------------------- */

#define CTESTHOST_TEXT_MAX 120

/* Written by the child, and not trusted: the reader cuts and checks the texts. */
struct CTestHost_record {
  uint64_t exchanges;            /* the number of the exchange that runs, or was the last; 0: none, or several at once */
  char step[CTESTHOST_TEXT_MAX]; /* the step of the check */
  char hook[CTESTHOST_TEXT_MAX]; /* the running hook of the plugin, empty between hooks */
  char nonce[CTESTHOST_TEXT_MAX]; /* from the supervisor: marks the lines of the child, which removes it */
};

/* A descriptor of a new record, closed on exec; -1 with errno. */
int CTestHost_newRecord(void);
/* Maps the record behind a descriptor; NULL if that fails, or if it is not a record. */
struct CTestHost_record *CTestHost_mapRecord(int descriptor);
void CTestHost_unmapRecord(struct CTestHost_record *record);
/* Puts a text that is not NUL-terminated into one of the record's fields. */
void CTestHost_note(char field[CTESTHOST_TEXT_MAX], const uint8_t *text, size_t count);

/* ---------------------------------------------------------------------------------------------------------------------
 * The trace: the last events, after the record in the same memory. Writing to it needs no system call, so a hook may do it.
 * ------------------------------------------------------------------------------------------------------------------- */

#define CTESTHOST_EVENT_TEXT_MAX 80
#define CTESTHOST_EVENTS 8192 /* the number of events that are kept, the last ones */

enum {
  CTESTHOST_BEGIN = 1, /* a hook or another function of the plugin */
  CTESTHOST_END = 2,
  CTESTHOST_USE = 3    /* a function of the host is called */
};

struct CTestHost_event {
  uint64_t ns;     /* CLOCK_MONOTONIC */
  uint32_t thread;
  uint32_t kind;   /* CTESTHOST_*; 0: nothing yet */
  char text[CTESTHOST_EVENT_TEXT_MAX];
};

struct CTestHost_trace {
  uint64_t count; /* how many events there were; event n is at n % CTESTHOST_EVENTS */
  struct CTestHost_event events[CTESTHOST_EVENTS];
};

/* ---------------------------------------------------------------------------------------------------------------------
 * The stack of the thread that ended the process, after the trace in the same memory
 * ------------------------------------------------------------------------------------------------------------------- */

#define CTESTHOST_LIBRARY_MAX 240
#define CTESTHOST_FRAMES 32 /* the number of frames that are kept, the innermost ones */

struct CTestHost_frame {
  uint64_t offset; /* of an instruction, or of the last byte of a call, from where the library is loaded; an address without a library */
  char library[CTESTHOST_LIBRARY_MAX]; /* its path as the dynamic linker knows it; empty for the program, "?" for none */
};

struct CTestHost_stack {
  uint32_t signal; /* 0: there is no stack */
  uint32_t count;
  struct CTestHost_frame frames[CTESTHOST_FRAMES];
};

struct CTestHost_memory {
  struct CTestHost_record record;
  struct CTestHost_trace trace;
  struct CTestHost_stack stack;
};

/* From now on, a fatal signal of this process, but not of its copies, writes the stack of its thread to this record.  The signal then
 * takes its usual course. */
void CTestHost_keepStack(struct CTestHost_record *record);
/* Where an instruction of this process is. */
struct CTestHost_frame CTestHost_frameOf(uint64_t address);
/* The signal of the stack in a record, 0 for none; and how many frames it has, at most CTESTHOST_FRAMES. */
int CTestHost_stackSignal(const struct CTestHost_record *record);
size_t CTestHost_frameCount(const struct CTestHost_record *record);
/* Frame n of the stack, the innermost first.  `n` is below CTESTHOST_FRAMES. */
struct CTestHost_frame CTestHost_frameAt(const struct CTestHost_record *record, size_t n);

/* Begins to keep events after this record. */
void CTestHost_openTrace(struct CTestHost_record *record);
/* How many events there were, as the trace counts them. */
uint64_t CTestHost_eventCount(const struct CTestHost_record *record);
/* Event n, from its place in the trace. */
struct CTestHost_event CTestHost_eventAt(const struct CTestHost_record *record, uint64_t n);
/* Keeps an event; does nothing unless a trace is open. Any thread. */
void CTestHost_event(uint32_t kind, const uint8_t *text, size_t count);
/* Whether a trace is open. */
int CTestHost_isTracing(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * Guarded memory: pages that report a forbidden access, and then allow it.
 * ------------------------------------------------------------------------------------------------------------------- */

/* The fault of an access. */
enum {
  CTESTHOST_BEYOND = 1, /* outside the lent bytes */
  CTESTHOST_WRITTEN = 2,/* a write to read-only bytes */
  CTESTHOST_LATE = 3,   /* after the end of the region */
  CTESTHOST_FREED = 4   /* memory that the plugin has freed; at -1: it is freed again */
};

/* The number of a removed region, and of memory that is not a region. */
#define CTESTHOST_REMOVED UINT32_MAX

#define CTESTHOST_TOUCH_CALLS 12

struct CTestHost_touch {
  uint32_t kind;   /* CTESTHOST_* */
  uint32_t region; /* the region's number */
  int64_t offset;  /* from the first lent byte */
  uint64_t calls[CTESTHOST_TOUCH_CALLS]; /* the instruction and the calls around it, the innermost first; then 0 */
};

/* Begins to catch accesses. 0, or -1 with errno. */
int CTestHost_catchTouches(void);
/* Maps room for `count` bytes that end where an unreadable page begins, and returns the first of them, zeroed and writable;
 * NULL if memory or regions are exhausted. */
void *CTestHost_newRegion(size_t count, uint32_t *region);
/* Whether new regions begin after an unreadable page, and do not end in front of one. */
void CTestHost_placeRegions(int at_start);
/* Makes the bytes read-only. */
void CTestHost_protectRegion(uint32_t region);
/* Calls `touched` when read-only bytes are read for the first time, before the read. */
void CTestHost_armRegion(uint32_t region, void (*touched)(void));
/* Makes the bytes inaccessible. */
void CTestHost_endRegion(uint32_t region);
/* Frees the pages; its number is used again, its addresses are not. */
void CTestHost_removeRegion(uint32_t region);
/* Moves the accesses that were caught since the last call to `out`, and returns how many; further ones are dropped. */
size_t CTestHost_takeTouches(struct CTestHost_touch *out, size_t capacity);

/* ---------------------------------------------------------------------------------------------------------------------
 * The end of the process
 * ------------------------------------------------------------------------------------------------------------------- */

/* Makes SIGABRT write the stack of the thread it reaches to `descriptor`, unless a record keeps it, before the process ends by it. */
void CTestHost_traceOnAbort(int descriptor);

/* ---------------------------------------------------------------------------------------------------------------------
 * Imports: calls of the plugin into libc, counted and made to fail
 * ------------------------------------------------------------------------------------------------------------------- */

/* Makes the library that holds `inside` call `replacement` instead of the function `name`; returns how many places changed.
 * `original` is set to the earlier address, if there was one. */
int CTestHost_replaceImport(const void *inside, const char *name, void *replacement, void **original);

/* Begins to count the allocations of the library that holds `inside`; returns the number of its watched imports. */
int CTestHost_watchAllocations(const void *inside);
/* The number of allocations since then; and lets every `interval`th allocation fail (0: none). */
uint64_t CTestHost_allocations(void);
void CTestHost_failAllocations(uint64_t interval);

/* The byte that fills unwritten memory. */
#define CTESTHOST_UNWRITTEN 0xA5

/* Fills new memory of the library that holds `inside` with CTESTHOST_UNWRITTEN, and reports an access after free() as
 * CTESTHOST_FREED.  `is_ours` as for CTestHost_watchFrees().  Returns the number of its watched imports. */
int CTestHost_watchHeap(const void *inside, int (*is_ours)(const void *memory));

/* From now on, the library that holds `inside` reads clocks that CTestHost_warpClocks() can speed up. */
void CTestHost_watchClocks(const void *inside);
/* While it is on, each look at one of these clocks is seconds later than the one before. They never go back. */
void CTestHost_warpClocks(int is_on);
/* How far these clocks are ahead. */
uint64_t CTestHost_warpedNanoseconds(void);

/* Counts the locks that this thread holds through the library that holds `inside`; returns the number of its watched imports. */
int CTestHost_watchLocks(const void *inside);
int64_t CTestHost_heldLocks(void);
/* From now on, two threads that leave the same function of the host, or read under the same lock, go on at the same moment. */
void CTestHost_alignThreads(int is_on);
/* Waits for a few microseconds for another thread at the same place; returns at once if threads are not aligned. */
void CTestHost_align(uintptr_t place);
/* How many pairs of these locks were taken in both orders. */
uint64_t CTestHost_lockInversions(void);

/* The words that are watched at once during steps. */
#define CTESTHOST_COUNTERS_MAX 64

/* Begins to list the memory that all hooks of the library that holds `inside` share: its variables and what it allocates.  0: not
 * possible on this processor. */
int CTestHost_watchCounters(const void *inside);
/* Forgets the marks so far. */
void CTestHost_beginMarks(void);
/* Compares each word with its value at the last mark; called after equal calls.  Returns how many words have grown by the same from
 * mark to mark, so that they seem to count something, and watches these during steps; none before the sixth mark. */
size_t CTestHost_markWords(void);
/* Runs the next hook of this thread step by step. */
void CTestHost_beginSteps(void);
/* The watched words, a bit for each, that the hook increased without an atomic instruction, and without one before that, as a lock has. */
uint64_t CTestHost_endSteps(void);

/* Makes the library that holds `inside` ask before it frees: memory of the host is reported and not freed.  `is_ours` is called
 * with every address for free() or operator delete, on the calling thread; non-zero: the plugin does not own it.  Returns the
 * number of its watched imports. */
int CTestHost_watchFrees(const void *inside, int (*is_ours)(const void *memory));

/* Notes calls of the library that holds `inside`, on this thread, to functions that change the thread or the process without a visible
 * effect, or that are refused here.  Returns the number of its watched imports. */
int CTestHost_watchChanges(const void *inside);
/* Takes the name of one of them; NULL if there are no more. */
const char *CTestHost_takeChange(void);

/* Keeps SIGSYS out of the signal masks that the library that holds `inside` sets, because a handler of it answers refused calls.
 * Returns the number of its watched imports. */
int CTestHost_admitRefusals(const void *inside);

/* Begins to count the handlers for exit and fork that the library that holds `inside` registers; returns the number of its
 * watched imports. */
int CTestHost_watchHandlers(const void *inside);
/* Functions, as by atexit() and pthread_atfork(). */
uint64_t CTestHost_exitHandlers(void);
/* Destructors of static objects, which languages register. */
uint64_t CTestHost_exitObjects(void);

/* Begins to note the numbers of threads that libdispatch starts: the pool of the whole process, on which all Swift tasks run.
 * Returns the number of watched places; 0 if there is no such library. */
int CTestHost_watchPool(void);
int CTestHost_isOfPool(int thread);

/* ---------------------------------------------------------------------------------------------------------------------
 * The state of the process and of this thread
 * ------------------------------------------------------------------------------------------------------------------- */

/* The rounding mode and the treatment of denormal numbers of this thread, without the status flags. */
uint64_t CTestHost_floatControl(void);
/* How many thread keys are free. */
size_t CTestHost_freeThreadKeys(void);
/* The array of the environment. */
const void *CTestHost_environment(void);
/* A digest of the action of a signal, and one of the alternate signal stack; 0 for none. */
uint64_t CTestHost_signalAction(int signal);
uint64_t CTestHost_signalStack(void);
/* Which interval timers run, as bits: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF. */
uint32_t CTestHost_intervalTimers(void);
/* Writes the names of all libraries to `out`, each with a line feed; returns how many were loaded since the start of the process. */
uint64_t CTestHost_libraries(char *out, size_t capacity);

/* ---------------------------------------------------------------------------------------------------------------------
 * Libraries
 * ------------------------------------------------------------------------------------------------------------------- */

/* Where an address lies. */
enum {
  CTESTHOST_NOWHERE = 0,    /* nothing is mapped there */
  CTESTHOST_SAME = 1,       /* in the library that holds the other address */
  CTESTHOST_OTHER = 2,      /* in another library, or in the program */
  CTESTHOST_ON_STACK = 3,   /* on the stack of the calling thread */
  CTESTHOST_ON_HEAP = 4     /* in anonymous memory */
};

int CTestHost_place(const void *inside, const void *address);
/* A file in memory with these bytes, which dlopen() can map by its name in /proc/self/fd; it stays open.  -1 with errno. */
int CTestHost_memoryFile(const void *bytes, size_t count);

/* ---------------------------------------------------------------------------------------------------------------------
 * Trials within a trial
 * ------------------------------------------------------------------------------------------------------------------- */

/* Runs `body` in a copy of this process, which has only this thread, and returns its status as waitpid() does; -1 with errno. */
int CTestHost_runApart(void (*body)(void *context), void *context);
/* How many bytes are allocated in this process, exactly. */
size_t CTestHost_heapInUse(void);

/* Fills memory of libc with bytes made from this one, when it is allocated and when it is freed. */
void CTestHost_overwriteFreed(int byte);

/* ---------------------------------------------------------------------------------------------------------------------
 * System calls of this thread
 * ------------------------------------------------------------------------------------------------------------------- */

/* Detects system calls of this thread between begin and end, and allows them: end returns 1 if there was one, else 0.  begin returns -1
 * if the kernel or the machine cannot report them.  `first` is set to the number of the first call. */
int CTestHost_beginSystemCalls(void);
int64_t CTestHost_endSystemCalls(int64_t *first);

#endif
