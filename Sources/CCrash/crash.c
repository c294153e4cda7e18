/* On a fatal signal: writes one line that names the plugin, and then lets the signal take its usual course.
 *
 * Everything from the handler down is async-signal-safe: no allocation, no lock, no stdio; only stores, write(2), sigaction(2) and
 * tgkill(2). */
#define _GNU_SOURCE
#include "crash.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

__thread CCrash_work CCrash_now __attribute__((tls_model("initial-exec")));
int CCrash_is_installed;

/* Swift's traps raise SIGTRAP on ARM. */
static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
enum { FATAL = sizeof fatal / sizeof *fatal, STACK = 64 * 1024, LINE = 2048 };

static struct sigaction earlier[FATAL];
/* Whether the earlier handler is that of Swift's runtime, which writes a long backtrace. */
static char is_backtracer[FATAL];
static atomic_int record = -1;
/* The thread that writes the report; 0 if there is none. */
static atomic_int reporter;
static atomic_int is_reported;

/* The names of the hooks, by the numbers that the host uses. */
static const char *const hooks[CCrash_ALIGNMENT] = {
    "on_request", "on_result", "on_head", "on_chunk", "on_read", "on_write", "on_error", "on_end", "on_cancel", "release",
    "create", "destroy", "validate", "drain", "load", "entry", "init", "callback", "ffi"};

/* MARK: Libraries */
typedef struct library {
  struct library *next;
  uintptr_t start, end, base;
  CCrash_subject subject;
} library;

static _Atomic(library *) libraries;

typedef struct extent {
  ElfW(Addr) base;
  uintptr_t start, end;
} extent;

static int measure(struct dl_phdr_info *info, size_t size, void *context) {
  extent *found = context;
  (void)size;
  if (info->dlpi_addr != found->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
    if (!found->end || start < found->start) found->start = start;
    if (end > found->end) found->end = end;
  }
  return 1;
}

void CCrash_note_library(void *handle, const char *entry, const char *file, const char *digest) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return;
  extent found = {.base = map->l_addr};
  dl_iterate_phdr(measure, &found);
  library *new = found.end ? calloc(1, sizeof *new) : NULL;
  if (!new) return;
  new->start = found.start;
  new->end = found.end;
  new->base = map->l_addr;
  new->subject = (CCrash_subject){.entry = strdup(entry), .file = strdup(file), .digest = strdup(digest)};
  new->next = atomic_load(&libraries);
  while (!atomic_compare_exchange_weak(&libraries, &new->next, new)) {}
}

static const library *library_at(uintptr_t address) {
  for (const library *l = atomic_load(&libraries); l; l = l->next)
    if (address >= l->start && address < l->end) return l;
  return NULL;
}

/* MARK: Subjects */
/* All subjects, so that leak checkers do not report them. */
static _Atomic(const CCrash_subject *) subjects;

uintptr_t CCrash_new_subject(const char *entry, const char *file, const char *digest, uint64_t generation) {
  size_t size = (sizeof(CCrash_subject) + CCrash_ALIGNMENT - 1) / CCrash_ALIGNMENT * CCrash_ALIGNMENT;
  CCrash_subject *subject = aligned_alloc(CCrash_ALIGNMENT, size);
  if (!subject) return 0;
  *subject = (CCrash_subject){atomic_load(&subjects), strdup(entry), strdup(file), strdup(digest), generation};
  while (!atomic_compare_exchange_weak(&subjects, &subject->next, subject)) {}
  return (uintptr_t)subject;
}

/* MARK: A line */
typedef struct line {
  size_t used;
  char text[LINE];
} line;

/* The line about the plugin, to be written again below a backtrace. */
static line words;

static void put(line *l, const char *text) {
  if (!text) text = "?";
  /* One byte is reserved for the newline. Control characters are replaced, so a name cannot contain one. */
  while (*text && l->used < sizeof l->text - 1) {
    unsigned char c = (unsigned char)*text++;
    l->text[l->used++] = c < 0x20 || c == 0x7F ? '?' : (char)c;
  }
}

static void put_number(line *l, uint64_t number, unsigned base) {
  char digits[24];
  size_t at = sizeof digits;
  digits[--at] = 0;
  do digits[--at] = "0123456789abcdef"[number % base];
  while (number /= base);
  put(l, digits + at);
}

static void put_address(line *l, uint64_t address) {
  put(l, "0x");
  put_number(l, address, 16);
}

/* A text may be NULL if strdup had no memory. */
static const char *text_of(const char *text) { return text && text[0] ? text : NULL; }

static void put_name(line *l, const CCrash_subject *subject) {
  const char *entry = text_of(subject->entry);
  put(l, entry ? entry : "(not named yet)");
  put(l, ", file ");
  put(l, subject->file);
}

static void send(const line *l, int descriptor) {
  size_t done = 0;
  while (done < l->used) {
    ssize_t count = write(descriptor, l->text + done, l->used - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += (size_t)count;
  }
}

static void end(line *l, int descriptor) {
  l->text[l->used++] = '\n';
  send(l, descriptor);
}

static const char *name_of(int signal) {
  switch (signal) {
  case SIGSEGV: return "SIGSEGV";
  case SIGBUS: return "SIGBUS";
  case SIGILL: return "SIGILL";
  case SIGFPE: return "SIGFPE";
  case SIGABRT: return "SIGABRT";
  case SIGTRAP: return "SIGTRAP";
  default: return "a signal";
  }
}

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

/* MARK: The handler */
static void report(int signal, const siginfo_t *info, const ucontext_t *context) {
  CCrash_work work = CCrash_now;
  const CCrash_subject *subject = (const CCrash_subject *)(work.subject & ~(uintptr_t)(CCrash_ALIGNMENT - 1));
  const char *hook = work.subject ? hooks[work.subject & (CCrash_ALIGNMENT - 1)] : NULL;
  uintptr_t at = instruction(context);
  const library *lies_in = library_at(at);
  line l = {0};
  put(&l, "carabiner: fatal ");
  put(&l, name_of(signal));
  if (info->si_code > 0 && signal != SIGABRT) {
    put(&l, " at address ");
    put_address(&l, (uintptr_t)info->si_addr);
  }
  if (subject) {
    put(&l, " in plugin ");
    put_name(&l, subject);
    put(&l, ", hook ");
    put(&l, hook);
    if (work.request) {
      put(&l, ", call ");
      put_number(&l, work.request, 10);
    }
    put(&l, ", generation ");
    put_number(&l, subject->generation, 10);
  } else if (lies_in) {
    subject = &lies_in->subject;
    hook = "thread";
    put(&l, " in plugin ");
    put_name(&l, subject);
    put(&l, ", on a thread of its own or of another's");
  } else {
    put(&l, "; no plugin code was running on this thread");
  }
  if (lies_in) {
    put(&l, "; the instruction is ");
    put(&l, lies_in->subject.file);
    put(&l, "+");
    put_address(&l, at - lies_in->base);
  } else {
    put(&l, "; the instruction ");
    put_address(&l, at);
    put(&l, " is in no plugin");
  }
  end(&l, STDERR_FILENO);
  words = l;
  int descriptor = atomic_load(&record);
  if (descriptor < 0) return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  line r = {0};
  put(&r, "1 ");
  put_number(&r, (uint64_t)now.tv_sec, 10);
  put(&r, " ");
  put(&r, name_of(signal));
  put(&r, " ");
  put(&r, subject && text_of(subject->digest) ? subject->digest : "-");
  put(&r, " ");
  put(&r, subject && text_of(subject->entry) ? subject->entry : "-");
  put(&r, " ");
  put(&r, hook ? hook : "-");
  end(&r, descriptor);
}

/* Runs the handler of Swift's runtime, which returns after it has written the backtrace, and repeats the line below it. */
static void write_backtrace(int signal, siginfo_t *info, void *context) {
  for (int i = 0; i < FATAL; i++) {
    if (fatal[i] != signal || !is_backtracer[i]) continue;
    /* Only the signals the kernel would block for this handler are blocked: it may read unmapped memory and needs its own faults. */
    sigset_t mask = ((const ucontext_t *)context)->uc_sigmask, own;
    for (int other = 1; other < NSIG; other++)
      if (sigismember(&earlier[i].sa_mask, other) == 1) sigaddset(&mask, other);
    if (!(earlier[i].sa_flags & SA_NODEFER)) sigaddset(&mask, signal);
    pthread_sigmask(SIG_SETMASK, &mask, &own);
    earlier[i].sa_sigaction(signal, info, context);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    send(&words, STDERR_FILENO);
    /* The runtime's handler runs once only. */
    earlier[i] = (struct sigaction){.sa_handler = SIG_DFL};
  }
}

static void handle(int signal, siginfo_t *info, void *context) {
  int saved = errno, self = (int)syscall(SYS_gettid), writer = 0;
  if (atomic_compare_exchange_strong(&reporter, &writer, self)) {
    report(signal, info, context);
    atomic_store(&is_reported, 1);
    write_backtrace(signal, info, context);
  } else if (writer != self) {
    /* Another thread is writing its report. Wait for it for one second at most. */
    struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    for (int i = 0; i < 100 && !atomic_load(&is_reported); i++) nanosleep(&pause, NULL);
  }
  /* From here on the signal takes its usual course: a fault occurs again at the same instruction, with the same context; a signal that
   * was sent is sent again and is delivered when the handler returns. */
  for (int i = 0; i < FATAL; i++)
    if (fatal[i] == signal) sigaction(signal, &earlier[i], NULL);
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), self, signal);
  errno = saved;
}

/* MARK: Stacks */
static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void free_stack(void *memory) {
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  munmap(memory, STACK);
  CCrash_now.is_prepared = 0;
}

static void make_key(void) { pthread_key_create(&stack_key, free_stack); }

void CCrash_prepare(void) {
  CCrash_now.is_prepared = 1;
  /* Event loop threads may block all signals. A fault would then end the process without a report. */
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < FATAL; i++) sigaddset(&set, fatal[i]);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  stack_t present;
  if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE)) return;
  pthread_once(&stack_once, make_key);
  void *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {.ss_sp = memory, .ss_size = STACK};
  if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(stack_key, memory) != 0) free_stack(memory);
}

/* Whether a handler is in the same file as Swift's runtime. */
static int is_of_swift(const struct sigaction *action) {
  Dl_info handler, runtime;
  void *retain = dlsym(RTLD_DEFAULT, "swift_retain");
  if (!(action->sa_flags & SA_SIGINFO) || !action->sa_sigaction || !retain) return 0;
  return dladdr((void *)action->sa_sigaction, &handler) && dladdr(retain, &runtime) && handler.dli_fbase == runtime.dli_fbase;
}

int CCrash_install(int descriptor) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  atomic_store(&record, descriptor);
  pthread_mutex_lock(&once);
  int status = 0;
  if (!CCrash_is_installed) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL && status == 0; i++) {
      status = sigaction(fatal[i], &action, &earlier[i]);
      is_backtracer[i] = status == 0 && is_of_swift(&earlier[i]);
    }
    if (status == 0) __atomic_store_n(&CCrash_is_installed, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&once);
  if (status == 0) CCrash_prepare();
  return status;
}
