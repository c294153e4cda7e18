/* Takes many of the keys for thread memory, of which a process has 1024. */
#include <carabiner.h>
#include <pthread.h>

#define OWN_ENTRY
#include "sound.h"

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  static pthread_key_t keys[64];
  static int made;
  for (; made < 64; made++) {
    if (pthread_key_create(&keys[made], NULL) != 0) return NULL;
  }
  host = h;
  self = h->self;
  return &plugin;
}
