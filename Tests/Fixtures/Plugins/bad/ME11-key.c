/* Names a baggage key for each call. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  char name[64];
  static _Atomic unsigned count;
  snprintf(name, sizeof name, "org.example.%u", count++);
  host->key(self, (crb_view){(const uint8_t *)name, strlen(name)});
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
