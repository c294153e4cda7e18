#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "stack.h"
#include "test_host.h"

static struct CTestHost_stack *kept;
/* A check survives the end of a copy of its process, so a copy keeps no stack. */
static pid_t owner;

static struct CTestHost_stack *stack_of(const struct CTestHost_record *record) {
  return &((struct CTestHost_memory *)(uintptr_t)record)->stack;
}

/* Finds the library of an address without a lock, because another thread may hold that of the dynamic linker.  Returns its path. */
static const char *library_at(uintptr_t address, uintptr_t *base) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  struct dl_find_object found;
  if (_dl_find_object((void *)address, &found) != 0 || !found.dlfo_link_map) return NULL;
  *base = found.dlfo_link_map->l_addr;
  return found.dlfo_link_map->l_name;
#else
  Dl_info found;
  if (!dladdr((void *)address, &found) || !found.dli_fname) return NULL;
  *base = (uintptr_t)found.dli_fbase;
  return found.dli_fname;
#endif
}

struct CTestHost_frame CTestHost_frameOf(uint64_t address) {
  struct CTestHost_frame frame;
  uintptr_t base = 0;
  const char *library = library_at((uintptr_t)address, &base);
  if (!library) library = "?";
  size_t length = strnlen(library, CTESTHOST_LIBRARY_MAX - 1);
  memcpy(frame.library, library, length);
  memset(frame.library + length, 0, CTESTHOST_LIBRARY_MAX - length);
  frame.offset = address - base;
  return frame;
}

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
  return (void)context, 0;
#endif
}

/* The address to which an instruction in no library would return, as after a call of NULL. */
static uintptr_t return_address(const ucontext_t *context) {
#if defined(__x86_64__)
  return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.regs[30];
#else
  return (void)context, 0;
#endif
}

void CTestHost_prepareStacks(void) {
  /* The first call loads a library, which a signal handler must not do. */
  void *frame;
  backtrace(&frame, 1);
}

size_t CTestHost_calls(const void *context, uint64_t *out, size_t capacity) {
  void *calls[2 * CTESTHOST_FRAMES];
  int count = backtrace(calls, 2 * CTESTHOST_FRAMES), first = 0;
  size_t done = 0;
  if (context) {
    uintptr_t at = instruction(context), base;
    if (done < capacity) out[done++] = at;
    while (first < count && (uintptr_t)calls[first] != at) first++;
    if (!library_at(at, &base) && done < capacity) out[done++] = return_address(context) - 1;
    first++;
  }
  while (first < count && done < capacity) out[done++] = (uintptr_t)calls[first++] - 1;
  return done;
}

/* A fault in here ends the process by the same signal, which is blocked.  The instruction is noted before. */
int CTestHost_noteStack(int signal, const void *context) {
  struct CTestHost_stack *stack = kept;
  if (!stack || getpid() != owner) return 0;
  uint64_t calls[CTESTHOST_FRAMES];
  stack->signal = (uint32_t)signal;
  stack->frames[0] = CTestHost_frameOf(instruction(context));
  stack->count = 1;
  size_t count = CTestHost_calls(context, calls, CTESTHOST_FRAMES);
  for (size_t index = 1; index < count; index++) stack->frames[index] = CTestHost_frameOf(calls[index]);
  stack->count = (uint32_t)count;
  return 1;
}

/* Signals without another handler here. */
static void on_end(int signal, siginfo_t *info, void *context) {
  CTestHost_noteStack(signal, context);
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, NULL);
  /* An instruction that caused it does so again. */
  if (info->si_code <= 0) raise(signal);
}

void CTestHost_keepStack(struct CTestHost_record *record) {
  if (!record) return;
  kept = stack_of(record);
  owner = getpid();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_end;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGILL, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
#if defined(__aarch64__)
  /* A trap of a compiler.  On other machines, it is an illegal instruction. */
  sigaction(SIGTRAP, &action, NULL);
#endif
}

int CTestHost_stackSignal(const struct CTestHost_record *record) { return (int)(stack_of(record)->signal & 0x7F); }

size_t CTestHost_frameCount(const struct CTestHost_record *record) {
  uint32_t count = stack_of(record)->count;
  return count < CTESTHOST_FRAMES ? count : CTESTHOST_FRAMES;
}

struct CTestHost_frame CTestHost_frameAt(const struct CTestHost_record *record, size_t n) {
  return stack_of(record)->frames[n % CTESTHOST_FRAMES];
}
