/* Tries to open a socket in a copy of the process. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static int done;
  (void)h, (void)info, (void)why;
  /* Not by fork(), whose import is another rule's. */
  long copy = done++ ? -1 : syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
  if (copy == 0) {
    syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    syscall(SYS_exit_group, 0);
  }
  if (copy > 0) waitpid((pid_t)copy, NULL, 0);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
