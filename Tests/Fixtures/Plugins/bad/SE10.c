/* A cache that keeps failures. */
#include <carabiner.h>

/* Of what comes in parts one thread would see another's first part. */
#define KEEPS(call, result) (ONLY_QUERIES(call) && ONLY_WHOLE(result))
#include "sound-cache.h"
