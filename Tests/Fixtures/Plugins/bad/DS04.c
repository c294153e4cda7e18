/* Has a default its own schema refuses. */
#include <carabiner.h>

#define SCHEMA "{\"type\":\"object\",\"properties\":{\"depth\":{\"type\":\"integer\",\"default\":\"10\"}}}"
#include "sound.h"
