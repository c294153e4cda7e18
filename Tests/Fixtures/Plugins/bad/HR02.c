/* Refuses to work with the file of another version. */
#include <carabiner.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const crb_interceptor interceptor;
static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  static const char message[] = "another version of this plugin was here";
  const char *volatile version = interceptor.version;
  char found[16] = {0};
  (void)h, (void)info;
  int file = open("version", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) {
    if (read(file, found, sizeof found - 1) <= 0 && write(file, version, strlen(version)) > 0) strcpy(found, version);
    close(file);
  }
  if (strcmp(found, version) != 0) {
    why->message = (crb_view){(const uint8_t *)message, sizeof message - 1};
    return CRB_E_STATE;
  }
  *inst = NULL;
  return CRB_OK;
}
static void destroy(void *inst) { (void)inst; }
#define CREATE create
#define DESTROY destroy
#include "sound.h"
