/* Wants to know where its own file is. */
/* STATUS: WARN */
#define _GNU_SOURCE
#include <carabiner.h>
#include <dlfcn.h>
#include <string.h>

#define OWN_ENTRY
#include "sound.h"

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  Dl_info info;
  host = h;
  self = h->self;
  return dladdr(&plugin, &info) && strstr(info.dli_fname, ".so") ? &plugin : NULL;
}
