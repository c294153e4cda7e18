#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "stack.h"
#include "test_host.h"

static int trace_descriptor = -1;

static void on_abort(int signal, siginfo_t *info, void *context) {
  (void)info;
  static const char title[] = "stack of the thread that was stopped:\n";
  void *frames[64];
  if (!CTestHost_noteStack(signal, context) && write(trace_descriptor, title, sizeof title - 1) >= 0) {
    backtrace_symbols_fd(frames, backtrace(frames, 64), trace_descriptor);
  }
  /* Raised again with the default action. */
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, NULL);
  raise(signal);
}

void CTestHost_traceOnAbort(int descriptor) {
  trace_descriptor = descriptor;
  CTestHost_prepareStacks();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_abort;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGABRT, &action, NULL);
}
