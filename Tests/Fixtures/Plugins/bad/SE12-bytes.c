/* A parser that accepts bodies with bytes that are not UTF-8. */
#include <carabiner.h>

/* Replaces the bytes, so that the rest of the body is read as usual. */
#define AT_SEAM(reading, chunk) (void)0
#define CUT_SHORT(reading)                                                                        \
  do {                                                                                            \
    for (size_t index = 0; index < (reading)->used; index++) {                                    \
      if ((unsigned char)(reading)->body[index] >= 0x80) (reading)->body[index] = '?';            \
    }                                                                                             \
    end = (reading)->used && (reading)->body[0] == '{' ? value_end((reading)->body, (reading)->body + (reading)->used, 0) : NULL; \
    if (!end || skip(end, (reading)->body + (reading)->used) != (reading)->body + (reading)->used) return CRB_E_INVAL;            \
  } while (0)
#include "sound-parser.h"
