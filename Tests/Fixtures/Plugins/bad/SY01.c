/* Exports a function of its own. */
#include <carabiner.h>

CRB_EXPORT void org_carabiner_helper(void) {}
#include "sound.h"
