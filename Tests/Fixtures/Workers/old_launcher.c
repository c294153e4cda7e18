/* A launcher of an older version. */
#include <sys/socket.h>
#include <unistd.h>

#include "launching.h"

int main(void) {
  struct CLaunching_hello hello = {.kind = CLAUNCHING_HELLO, .version = 0, .build = "0.9.0"};
  /* It was shorter. */
  if (send(3, &hello, CLAUNCHING_HELLO_PREFIX, 0) < 0) return 1;
  char byte;
  return read(3, &byte, 1) < 0;
}
