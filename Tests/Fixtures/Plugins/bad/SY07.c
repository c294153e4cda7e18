/* Offers its allocator to everybody. */
#include <carabiner.h>

CRB_EXPORT void *pvalloc(size_t size) { return (void)size, NULL; }
#include "sound.h"
