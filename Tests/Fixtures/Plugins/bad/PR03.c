/* Tries to open a socket and ignores the error. */
#include <carabiner.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection >= 0) close(connection);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
