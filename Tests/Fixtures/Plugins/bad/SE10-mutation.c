/* A cache that also keeps the results of mutations. */
#include <carabiner.h>

#define KEEPS(call, result) (ONLY_WHOLE(result) && ONLY_GOOD(result))
#include "sound-cache.h"
