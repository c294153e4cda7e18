/* Has a stage without its first hook. */
#include <carabiner.h>

#define GRAPHQL_ON_REQUEST NULL
#include "sound.h"
