/* A cache that keeps failures. */
#include <carabiner.h>

#define KEY_PART CRB_PART_VARIABLES
#define KEEPS(call, result) 1
#define NEEDS (KEY_PART | CRB_PART_JSON)
#include "sound-cache.h"
