/* Overwrites a variable of the environment where it is. */
#define _GNU_SOURCE
#include <carabiner.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static crb_verdict on_end(void *inst, crb_call call, void *state) {
  (void)inst, (void)call, (void)state;
  for (char **variable = environ; *variable; variable++) {
    if (strncmp(*variable, "HOME=", 5) == 0) memset(*variable + 5, 0, strlen(*variable + 5));
  }
  return CRB_CONTINUE;
}
#define ON_END on_end
#include "sound.h"
