/* Takes long to load. */
/* STATUS: WARN */
#include <carabiner.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void) { usleep(80000); }
#include "sound.h"
