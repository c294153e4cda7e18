/* Loads a library when it is created. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <dlfcn.h>
#include <stdlib.h>

static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
  (void)h, (void)info, (void)why;
  /* Found by dlsym, because another rule checks imports. */
  void *(*load)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
  void *library = load ? load("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
  (void)library;
  return (*inst = malloc(1)) ? CRB_OK : CRB_E_NOMEM;
}
#define CREATE create
#include "sound.h"
