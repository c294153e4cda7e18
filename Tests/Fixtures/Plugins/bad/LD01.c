/* Was cut short while it was copied. */
/* MAKE: $CC $CFLAGS -o "$OUT" "$IN" && truncate -s 8192 "$OUT" */
#include <carabiner.h>
#include "sound.h"
