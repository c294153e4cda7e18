/* Looks for libraries in the home of who built it. */
/* CFLAGS: -Wl,-rpath,/home/builder/lib */
#include <carabiner.h>
#include "sound.h"
