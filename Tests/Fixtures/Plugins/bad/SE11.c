/* A parser that forgets a byte at the seam of two chunks of odd length. */
#include <carabiner.h>

#define AT_SEAM(reading, chunk) \
  if ((reading)->used % 2 == 1 && (chunk)->bytes.len % 2 == 1 && (chunk)->bytes.len > 1) (reading)->used--
#include "sound-parser.h"
