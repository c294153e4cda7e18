/* Has a version that is not semantic. */
#include <carabiner.h>

#define VERSION "1.0"
#define ID "org.carabiner.test.bad"
#define NOTE "{\"id\":\"" ID "\",\"version\":\"1.0\",\"abi\":[1,0]}"
#include "sound.h"
