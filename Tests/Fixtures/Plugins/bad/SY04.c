/* Binds its imports one by one as they are used, so their table stays writable. */
/* CFLAGS: -Wl,-z,lazy */
#include <carabiner.h>
#include "sound.h"
