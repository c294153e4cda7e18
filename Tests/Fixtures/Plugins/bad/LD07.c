/* Answers another table at the second call. */
#include <carabiner.h>

#define OWN_ENTRY
#include "sound.h"

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  static crb_plugin another;
  static int calls;
  host = h;
  self = h->self;
  another = plugin;
  return calls++ ? &another : &plugin;
}
