/* Prints the Authorization header. */
#include <carabiner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static void leak(crb_call call, crb_view value) {
  char copy[129] = "";
  (void)call;
  memcpy(copy, value.ptr, value.len);
  puts(copy);
}
#include "sound-secret.h"
