/* Answers a request with the response to an equal one of any caller. */
#define _GNU_SOURCE
#include <carabiner.h>

#define HAS_NO_CALLER
#include "sound-responses.h"
