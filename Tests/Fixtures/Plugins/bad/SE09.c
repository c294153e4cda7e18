/* A cache whose key is the document without the variables. */
#include <carabiner.h>

#define KEY_PART CRB_PART_DOCUMENT
#define KEEPS(call, result)                                                  \
  (!(result)->errors.ptr && !((result)->flags & CRB_RESULT_SYNTHETIC) &&     \
   host->operation_type(call) == CRB_OPERATION_QUERY)
#define NEEDS (KEY_PART | CRB_PART_JSON | CRB_PART_ERRORS)
#include "sound-cache.h"
