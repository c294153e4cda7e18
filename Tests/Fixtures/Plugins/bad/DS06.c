/* Allocates its table. */
/* STATUS: WARN */
#include <carabiner.h>
#include <stdlib.h>

#define OWN_ENTRY
#include "sound.h"

CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  static crb_plugin *table;
  host = h;
  self = h->self;
  if (!table && (table = malloc(sizeof *table))) *table = plugin;
  return table;
}
