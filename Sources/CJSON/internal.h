#ifndef CJSON_INTERNAL_H
#define CJSON_INTERNAL_H

#include <stdbool.h>
#include <string.h>

#include "json.h"

_Static_assert(sizeof(size_t) == 8, "an entry of a tape has two places of 32 bits in one word");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a block is the lowest bit of its masks");

enum { CJSON_SIZE = 64 };
typedef uint8_t CJSON_block __attribute__((vector_size(64)));
typedef int8_t CJSON_signed __attribute__((vector_size(64)));
typedef bool CJSON_bits __attribute__((ext_vector_type(64)));

/* A mask of the bytes of a block for which a comparison holds. The assembly is empty: it only prevents the compiler from keeping the mask
 * as a vector of bits over a branch, for which x86 would need some hundred instructions. */
#define CJSON_MASK(comparison)                                            \
  ({                                                                      \
    CJSON_bits bits_ = __builtin_convertvector((comparison), CJSON_bits); \
    uint64_t mask_;                                                       \
    memcpy(&mask_, &bits_, sizeof mask_);                                 \
    __asm__("" : "+r"(mask_));                                            \
    mask_;                                                                \
  })

/* The kind of byte that may follow in the outermost object of a response, or outside of it. */
enum CJSON_place {
  CJSON_OBJECT_DUE,
  CJSON_NAME_OR_END_DUE,
  CJSON_NAME_DUE,
  CJSON_IN_NAME,
  CJSON_COLON_DUE,
  CJSON_VALUE_DUE,
  CJSON_IN_SCALAR,
  CJSON_IN_STRING,
  CJSON_AFTER_VALUE,
  CJSON_ENDED
};

#define CJSON_HIDDEN __attribute__((visibility("hidden")))
#define CJSON_INLINE static inline __attribute__((always_inline))
/* Functions that few blocks call save all registers themselves. Otherwise the loop over blocks would keep its masks in memory. */
#if defined(__x86_64__) || defined(__aarch64__)
#define CJSON_RARE __attribute__((noinline, cold, preserve_most))
#else
#define CJSON_RARE __attribute__((noinline, cold))
#endif

/* Blocks to compare with, 64 times the same byte. They are in another file, or the compiler would know the byte and load and spread it in
 * each block. */
struct CJSON_constants {
  CJSON_block backslash, quote, space, colon, comma, open, close, fold, toDigits, belowDigits, zero, minus, point;
};
CJSON_HIDDEN extern const struct CJSON_constants CJSON_constants;

/* The first half of an entry that begins with a byte and at offset 0: its kind, and above it the start. A string starts after its quote. */
CJSON_HIDDEN extern const uint64_t CJSON_heads[256];

/* Whether the escapes that begin with these backslashes are valid. `low` is where the second half of a surrogate pair begins. */
CJSON_HIDDEN CJSON_RARE bool CJSON_areEscapes(const uint8_t *text, const uint8_t *end, uint64_t backslashes, const uint8_t **low);

/* Whether only white space is between each of these closing brackets and an opening one. */
CJSON_HIDDEN CJSON_RARE bool CJSON_areEmpty(const uint8_t *text, uint64_t closings);

/* The letters, as a mask, of the word that begins here; 0 if there is none. */
CJSON_HIDDEN CJSON_RARE uint64_t CJSON_letters(const uint8_t *text, const uint8_t *end);

/* Copies less than a block, followed by spaces. */
CJSON_HIDDEN CJSON_RARE void CJSON_pad(uint8_t block[CJSON_SIZE], const uint8_t *text, const uint8_t *end);

size_t CJSON_mostEntries_avx2(const uint8_t *bytes, size_t count) CJSON_HIDDEN;
ptrdiff_t CJSON_record_avx2(const uint8_t *bytes, size_t count, size_t deepest, struct CJSON_entry *entries, size_t most) CJSON_HIDDEN;
int CJSON_locate_avx2(const uint8_t *bytes, size_t count, size_t deepest, CJSON_visit visit, void *context) CJSON_HIDDEN;
bool CJSON_follow_avx2(struct CJSON_outline *outline, const uint8_t *bytes, size_t count) CJSON_HIDDEN;

#endif
