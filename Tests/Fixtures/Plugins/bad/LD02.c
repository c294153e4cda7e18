/* Has a note with another version than its table. */
#include <carabiner.h>

#define ID "org.carabiner.test.bad"
#define NOTE "{\"id\":\"" ID "\",\"version\":\"1.0.1\",\"abi\":[1,0]}"
#include "sound.h"
