/* Keeps the memory of each instance that is destroyed. */
#include <carabiner.h>
#include <stdlib.h>

static void destroy(void *inst) { (void)inst; }
#define DESTROY destroy
#include "sound.h"
