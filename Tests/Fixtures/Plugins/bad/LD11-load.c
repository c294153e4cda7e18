/* Loads a library while it is loaded, and closes it again. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <dlfcn.h>

__attribute__((constructor)) static void start(void) {
  /* Found by dlsym, because another rule checks imports. */
  void *(*load)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
  int (*unload)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "dlclose");
  void *library = load ? load("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library && unload) unload(library);
}
#include "sound.h"
