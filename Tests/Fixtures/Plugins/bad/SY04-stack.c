/* Makes the stacks of the whole process executable. */
/* CFLAGS: -Wl,-z,execstack */
#include <carabiner.h>
#include "sound.h"
