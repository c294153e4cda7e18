/* Keeps the body of a response in release(), so it also answers later requests with one that broke off or was cancelled. */
#define _GNU_SOURCE
#include <carabiner.h>

#define KEEPS_PIECES
#include "sound-responses.h"
