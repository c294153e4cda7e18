/* A cache that keeps failures. */
#include <carabiner.h>

#define KEY_PART CRB_PART_VARIABLES
/* Of what comes in parts one thread would see another's first part. */
#define KEEPS(call, result) (host->operation_type(call) == CRB_OPERATION_QUERY && !((result)->flags & CRB_RESULT_HAS_NEXT))
#define NEEDS (KEY_PART | CRB_PART_JSON)
#include "sound-cache.h"
