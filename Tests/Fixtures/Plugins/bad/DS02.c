/* Has another id each time it is asked. */
#include <carabiner.h>
#include <stdio.h>

#define OWN_ENTRY
#include "sound.h"

static char name[64];
static crb_interceptor changing;
static const crb_interceptor *const list[] = {&changing};
static crb_plugin table;
CRB_EXPORT const crb_plugin *crb_entry_v1(const crb_host *h) {
  static int calls;
  host = h;
  self = h->self;
  changing = interceptor;
  changing.id = name;
  snprintf(name, sizeof name, calls ? ID "%d" : ID, calls);
  calls++;
  table = plugin;
  table.items = list;
  return &table;
}
