/* Needs a part nobody knows. */
#include <carabiner.h>

#define NEEDS (1u << 20)
#include "sound.h"
