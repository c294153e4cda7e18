/* Needs a part that does not exist. */
#include <carabiner.h>

#define NEEDS (1u << 20)
#include "sound.h"
