/* Looks for libraries in its author's home folder. */
/* CFLAGS: -Wl,-rpath,/home/builder/lib */
#include <carabiner.h>
#include "sound.h"
