/* Takes denormal numbers for zero from the moment it is loaded, as a library linked with -ffast-math may do. */
#include <carabiner.h>

#include "denormals.h"

__attribute__((constructor)) static void start(void) { flush_denormals(); }
#include "sound.h"
