/* Insists on the minor it was built with. */
#include <carabiner.h>

#define OWN_ENTRY
#include "sound.h"

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  host = h;
  self = h->self;
  return h->abi_minor == CRB_ABI_MINOR ? &plugin : NULL;
}
