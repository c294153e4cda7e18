/* Allows itself only once in a process. */
#include <carabiner.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const crb_interceptor interceptor;
static int instances;
static const char *lock(void) {
  static char name[64];
  const char *volatile version = interceptor.version;
  snprintf(name, sizeof name, "lock-%s", version);
  return name;
}
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static const char message[] = "another copy of this plugin is at work; end it first";
  (void)h, (void)info;
  if (instances == 0) {
    int file = open(lock(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) {
      why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
      return CRB_E_STATE;
    }
    close(file);
  }
  instances++;
  *inst = NULL;
  return CRB_OK;
}
static void destroy(void *inst) {
  (void)inst;
  if (--instances == 0) unlink(lock());
}
#define CREATE create
#define DESTROY destroy
#include "sound.h"
