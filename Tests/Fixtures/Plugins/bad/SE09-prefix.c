/* A cache whose key has the beginning of Authorization only. */
#include <carabiner.h>

#define AUTHORIZATION_BYTES 48
#include "sound-cache.h"
