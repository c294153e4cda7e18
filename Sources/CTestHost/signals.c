#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "test_host.h"

/* The kernel ends a process if a thread that blocks SIGSYS makes a refused call.  Threads of plugins should block all signals. */
static const sigset_t *without_refusals(int how, const sigset_t *set, sigset_t *copy) {
  if (!set || how == SIG_UNBLOCK) return set;
  *copy = *set;
  sigdelset(copy, SIGSYS);
  return copy;
}
static int set_thread_mask(int how, const sigset_t *set, sigset_t *old) {
  sigset_t copy;
  return pthread_sigmask(how, without_refusals(how, set, &copy), old);
}
static int set_mask(int how, const sigset_t *set, sigset_t *old) {
  sigset_t copy;
  return sigprocmask(how, without_refusals(how, set, &copy), old);
}
static int set_attribute(pthread_attr_t *attributes, const sigset_t *set) {
  sigset_t copy;
  return pthread_attr_setsigmask_np(attributes, without_refusals(SIG_SETMASK, set, &copy));
}

int CTestHost_admitRefusals(const void *inside) {
  return CTestHost_replaceImport(inside, "pthread_sigmask", (void *)set_thread_mask, NULL) +
         CTestHost_replaceImport(inside, "sigprocmask", (void *)set_mask, NULL) +
         CTestHost_replaceImport(inside, "pthread_attr_setsigmask_np", (void *)set_attribute, NULL);
}
