/* The scan for all processors: SSE2 on x86, NEON on ARM, as the compiler translates vectors of 64 bytes. */
#include "internal.h"

#define VARIANT(name) name##_portable
#include "scan.h"
#include "outline.h"
