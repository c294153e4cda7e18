/* Makes its own code writable. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  mprotect((void *)((uintptr_t)create / page * page), page, PROT_READ | PROT_WRITE | PROT_EXEC);
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
