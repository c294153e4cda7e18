/* Constants of the scan, and what few blocks need. */
#include "internal.h"

#define EIGHT(byte) byte, byte, byte, byte, byte, byte, byte, byte
#define ALL(byte) {EIGHT(byte), EIGHT(byte), EIGHT(byte), EIGHT(byte), EIGHT(byte), EIGHT(byte), EIGHT(byte), EIGHT(byte)}

const struct CJSON_constants CJSON_constants = {
    .backslash = ALL('\\'),
    .quote = ALL('"'),
    .space = ALL(' '),
    .colon = ALL(':'),
    .comma = ALL(','),
    .open = ALL('{'),
    .close = ALL('}'),
    .fold = ALL('{' ^ '['),
    /* Added to a byte, makes the digits the highest signed numbers. */
    .toDigits = ALL(INT8_MAX - '9'),
    .belowDigits = ALL(INT8_MAX - 10),
    .zero = ALL('0'),
    .minus = ALL('-'),
    .point = ALL('.'),
};

#define DIGITS(kind) kind, kind, kind, kind, kind, kind, kind, kind, kind, kind
const uint64_t CJSON_heads[256] = {
    ['"'] = CJSON_STRING | 1ull << 32,
    ['-'] = CJSON_SCALAR,
    ['0'] = DIGITS(CJSON_SCALAR),
    ['['] = CJSON_ARRAY,
    ['f'] = CJSON_SCALAR,
    ['n'] = CJSON_NULL,
    ['t'] = CJSON_SCALAR,
    ['{'] = CJSON_OBJECT,
};

/* The characters after a backslash that are a whole escape. */
static const bool isEscape[256] = {
    ['"'] = true, ['/'] = true, ['\\'] = true, ['b'] = true, ['f'] = true, ['n'] = true, ['r'] = true, ['t'] = true,
};

/* The number that four hexadecimal digits are; -1 if they are none. */
static int code_unit(const uint8_t *digits) {
  int unit = 0;
  for (int place = 0; place < 4; place++) {
    uint8_t digit = digits[place], letter = digit | 0x20;
    if (digit >= '0' && digit <= '9') unit = unit << 4 | (digit - '0');
    else if (letter >= 'a' && letter <= 'f') unit = unit << 4 | (letter - 'a' + 10);
    else return -1;
  }
  return unit;
}

static bool is_unicode(const uint8_t *backslash, const uint8_t *end, const uint8_t **low) {
  if (end - backslash < 6 || backslash[1] != 'u') return false;
  int unit = code_unit(backslash + 2);
  if (unit < 0xD800 || unit > 0xDFFF) return unit >= 0;
  if (unit >= 0xDC00) return backslash == *low;
  if (end - backslash < 12 || backslash[6] != '\\' || backslash[7] != 'u') return false;
  *low = backslash + 6;
  unit = code_unit(backslash + 8);
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

bool CJSON_areEscapes(const uint8_t *text, const uint8_t *end, uint64_t backslashes, const uint8_t **low) {
  if (end - text < 65 - __builtin_clzll(backslashes)) return false;
  for (; backslashes; backslashes &= backslashes - 1) {
    const uint8_t *backslash = text + __builtin_ctzll(backslashes);
    if (!isEscape[backslash[1]] && !is_unicode(backslash, end, low)) return false;
  }
  return true;
}

bool CJSON_areEmpty(const uint8_t *text, uint64_t closings) {
  for (; closings; closings &= closings - 1) {
    const uint8_t *before = text + __builtin_ctzll(closings) - 1;
    /* The scan has seen a comma, a colon or an opening bracket, and nothing but white space after it. */
    while (*before <= ' ') before--;
    if (*before != '{' && *before != '[') return false;
  }
  return true;
}

uint64_t CJSON_letters(const uint8_t *text, const uint8_t *end) {
  if (end - text >= 4 && (memcmp(text, "true", 4) == 0 || memcmp(text, "null", 4) == 0)) return 0xF;
  return end - text >= 5 && memcmp(text, "false", 5) == 0 ? 0x1F : 0;
}

void CJSON_pad(uint8_t block[CJSON_SIZE], const uint8_t *text, const uint8_t *end) {
  memset(block, ' ', CJSON_SIZE);
  memcpy(block, text, (size_t)(end - text));
}

void CJSON_begin(struct CJSON_outline *outline, size_t deepest) {
  *outline = (struct CJSON_outline){.deepest = deepest < CJSON_DEEPEST ? deepest : CJSON_DEEPEST};
}
