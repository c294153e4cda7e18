/* Opens a file while it is loaded. */
#include <carabiner.h>
#include <fcntl.h>

__attribute__((constructor)) static void start(void) { (void)!open("/dev/null", O_RDONLY); }
#include "sound.h"
