/* Greets on standard error when it is loaded. */
#include <carabiner.h>
#include <unistd.h>

__attribute__((constructor)) static void greet(void) { (void)!write(2, "ready\n", 6); }
#include "sound.h"
