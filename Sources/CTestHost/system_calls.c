#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "test_host.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

/* From <asm-generic/siginfo.h>, which libc's headers exclude. */
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

enum { PASS_ON = 0, CATCH = 1 };

/* The kernel reads this at every system call of the thread. */
static _Thread_local volatile uint8_t selector;
static _Thread_local int64_t counted;
static _Thread_local int64_t first_number;

#if defined(__x86_64__)

/* The earlier handler.  A call that passes here may still be one that the confinement refuses. */
static struct sigaction confined;

/* The handler's own return must not be caught, so after the first call all others pass: the check only needs to know whether there is
 * one.  The instruction is run again. */
static void on_call(int signal, siginfo_t *info, void *context) {
  if (info->si_code != SYS_USER_DISPATCH) {
    if ((confined.sa_flags & SA_SIGINFO) && confined.sa_sigaction) confined.sa_sigaction(signal, info, context);
    return;
  }
  ucontext_t *machine = context;
  selector = PASS_ON;
  if (counted++ == 0) first_number = info->si_syscall;
  machine->uc_mcontext.gregs[REG_RIP] -= 2;
  machine->uc_mcontext.gregs[REG_RAX] = info->si_syscall;
}

int CTestHost_beginSystemCalls(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  struct sigaction before;
  if (sigaction(SIGSYS, &action, &before) != 0) return -1;
  if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != on_call) confined = before;
  counted = 0;
  first_number = -1;
  selector = PASS_ON;
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) != 0) return -1;
  selector = CATCH;
  return 0;
}

int64_t CTestHost_endSystemCalls(int64_t *first) {
  selector = PASS_ON;
  prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
  *first = first_number;
  return counted;
}

#else

int CTestHost_beginSystemCalls(void) {
  errno = ENOSYS;
  return -1;
}

int64_t CTestHost_endSystemCalls(int64_t *first) {
  *first = -1;
  return -1;
}

#endif
