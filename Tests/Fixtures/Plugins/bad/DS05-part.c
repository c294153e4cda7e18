/* Needs the body of a request in a stage that has none. */
/* STATUS: WARN */
#include <carabiner.h>

#define NEEDS CRB_PART_BODY
#include "sound.h"
