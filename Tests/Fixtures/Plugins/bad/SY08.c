/* Needs a library that not every machine has. */
/* CFLAGS: -Wl,--no-as-needed -lsqlite3 */
#include <carabiner.h>
#include "sound.h"
