/* Leaves a file behind when it validates. */
#include <carabiner.h>
#include <fcntl.h>
#include <unistd.h>

static crb_status validate(const crb_host *h, crb_view config, crb_error *why) {
  (void)h, (void)config, (void)why;
  int file = open("validated", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return CRB_OK;
}
#define VALIDATE validate
#include "sound.h"
