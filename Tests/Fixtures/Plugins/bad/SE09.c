/* A cache whose key is the operation without the variables. */
#include <carabiner.h>

#define KEY_PARTS CRB_PART_DOCUMENT, CRB_PART_OPERATION_NAME, CRB_PART_EXTENSIONS
#include "sound-cache.h"
