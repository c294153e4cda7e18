/* A parser that accepts truncated bodies. */
#include <carabiner.h>

#define CUT_SHORT(reading) (void)0
#include "sound-parser.h"
