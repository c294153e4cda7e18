/* Follows a GraphQL response that arrives in pieces, which each variant compiles for its processors.
 *
 * In nested values only quotes and brackets count, so most blocks take a few instructions a byte. Blocks that touch the outermost object are
 * read byte by byte; there are few of them. */

/* Whether a byte of the word that is read is kept. The words that matter are short. */
CJSON_INLINE void keep(struct CJSON_outline *outline, uint8_t byte) {
  if (outline->wordLength < sizeof outline->word) outline->word[outline->wordLength++] = byte;
}

CJSON_INLINE bool is_word(const struct CJSON_outline *outline, const char *word) {
  return outline->wordLength == strlen(word) && memcmp(outline->word, word, outline->wordLength) == 0;
}

/* Begins a value of the outermost object with this byte. Returns false if GraphQL does not allow it for the member. */
CJSON_INLINE bool begin_value(struct CJSON_outline *outline, uint8_t byte) {
  outline->wordLength = 0;
  switch (outline->member) {
  case CJSON_DATA:
    outline->hasData = true;
    return byte == '{' || byte == 'n';
  case CJSON_ERRORS: return byte == '[' || byte == 'n';
  default: return true;
  }
}

/* Ends a word that is a value. */
CJSON_INLINE bool end_scalar(struct CJSON_outline *outline) {
  outline->place = CJSON_AFTER_VALUE;
  return outline->member == CJSON_OTHER || is_word(outline, "null");
}

/* A byte of the outermost object that is in no string and no bracket. */
CJSON_INLINE bool take_outermost(struct CJSON_outline *outline, uint8_t byte) {
  switch (byte) {
  case ' ': case '\n': case '\r': case '\t':
    return outline->place != CJSON_IN_SCALAR || end_scalar(outline);
  case ':':
    if (outline->place != CJSON_COLON_DUE) return false;
    outline->place = CJSON_VALUE_DUE;
    return true;
  case ',':
    if (outline->place == CJSON_IN_SCALAR && !end_scalar(outline)) return false;
    if (outline->place != CJSON_AFTER_VALUE) return false;
    outline->place = CJSON_NAME_DUE;
    return true;
  default:
    if (outline->place == CJSON_VALUE_DUE) {
      outline->place = CJSON_IN_SCALAR;
      if (!begin_value(outline, byte)) return false;
    }
    keep(outline, byte);
    return outline->place == CJSON_IN_SCALAR;
  }
}

/* A quote at which a string of the outermost object begins or ends. */
CJSON_INLINE bool take_quote(struct CJSON_outline *outline, bool begins) {
  if (begins) {
    switch (outline->place) {
    case CJSON_NAME_OR_END_DUE: case CJSON_NAME_DUE:
      outline->place = CJSON_IN_NAME;
      outline->wordLength = 0;
      return true;
    case CJSON_VALUE_DUE:
      outline->place = CJSON_IN_STRING;
      return begin_value(outline, '"');
    default: return false;
    }
  }
  if (outline->place == CJSON_IN_STRING) {
    outline->place = CJSON_AFTER_VALUE;
    return true;
  }
  outline->place = CJSON_COLON_DUE;
  outline->member = is_word(outline, "data") ? CJSON_DATA : is_word(outline, "errors") ? CJSON_ERRORS : CJSON_OTHER;
  if (memchr(outline->word, '\\', outline->wordLength)) outline->isUnsure = true;
  return true;
}

/* The bit in which curly brackets differ from others, as a sign. */
CJSON_INLINE int8_t kind_of(uint8_t bracket) { return (int8_t)((int8_t)(bracket << 2) >> 7); }

CJSON_INLINE bool open_bracket(struct CJSON_outline *outline, uint8_t bracket) {
  if (outline->depth == outline->deepest) return false;
  if (outline->depth == 0) {
    if (outline->place != CJSON_OBJECT_DUE || bracket != '{') return false;
    outline->place = CJSON_NAME_OR_END_DUE;
  } else if (outline->depth == 1) {
    if (outline->place != CJSON_VALUE_DUE || !begin_value(outline, bracket)) return false;
    outline->place = CJSON_AFTER_VALUE;
  } else if (outline->member == CJSON_ERRORS && bracket == '{') {
    outline->hasErrors = true;
  }
  outline->kinds[++outline->depth] = kind_of(bracket);
  return true;
}

CJSON_INLINE bool close_bracket(struct CJSON_outline *outline, uint8_t bracket) {
  if (outline->depth == 0 || outline->kinds[outline->depth] != kind_of(bracket)) return false;
  if (outline->depth == 1) {
    if (outline->place == CJSON_IN_SCALAR && !end_scalar(outline)) return false;
    if (outline->place != CJSON_NAME_OR_END_DUE && outline->place != CJSON_AFTER_VALUE) return false;
    outline->place = CJSON_ENDED;
    outline->isClosed = true;
  }
  outline->depth--;
  return true;
}

CJSON_INLINE bool is_white(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/* Follows a block that may touch the outermost object. */
CJSON_RARE static bool follow_outermost(
    struct CJSON_outline *outline, const uint8_t *block, size_t count, uint64_t quotes, uint64_t inside) {
  for (size_t at = 0; at < count; at++) {
    uint8_t byte = block[at];
    bool isInside = inside >> at & 1;
    if (quotes >> at & 1) {
      if (outline->depth == 0 || (outline->depth == 1 && !take_quote(outline, isInside))) return false;
    } else if (isInside) {
      if (outline->depth == 1 && outline->place == CJSON_IN_NAME) keep(outline, byte);
    } else if (byte == '{' || byte == '[') {
      if (!open_bracket(outline, byte)) return false;
    } else if (byte == '}' || byte == ']') {
      if (!close_bracket(outline, byte)) return false;
    } else if (outline->depth <= 1) {
      if (outline->depth == 0 && !is_white(byte)) return false;
      if (outline->depth == 1 && !take_outermost(outline, byte)) return false;
    }
  }
  return true;
}

/* Follows the brackets of a block that stays in a nested value, and within the limit. */
CJSON_INLINE bool follow_nested(
    struct CJSON_outline *outline, uint64_t *depth, const uint8_t *block, uint64_t opens, uint64_t closes) {
  int8_t *kinds = outline->kinds;
  uint64_t level = *depth;
  for (uint64_t brackets = opens | closes; brackets; brackets &= brackets - 1) {
    int8_t kind = kind_of(block[__builtin_ctzll(brackets)]);
    if (opens & brackets & (0 - brackets)) kinds[++level] = kind;
    else if (kinds[level--] != kind) return false;
  }
  *depth = level;
  return true;
}

bool VARIANT(CJSON_follow)(struct CJSON_outline *outline, const uint8_t *bytes, size_t count) {
  /* Not in the structure, which the compiler would write and read again for each bracket. */
  uint64_t inString = outline->inString, isEscaped = outline->isEscaped, depth = outline->depth, deepest = outline->deepest;
  uint8_t last[CJSON_SIZE];
  const uint8_t *end = bytes + count;
  while (bytes < end) {
    const uint8_t *block = bytes;
    size_t length = CJSON_SIZE;
    if (end - bytes < CJSON_SIZE) {
      length = (size_t)(end - bytes);
      CJSON_pad(last, bytes, end);
      block = last;
    }
    bytes += length;
    CJSON_block v;
    memcpy(&v, block, CJSON_SIZE);
    uint64_t quotes = CJSON_MASK(v == CJSON_constants.quote), backslashes = CJSON_MASK(v == CJSON_constants.backslash);
    if (backslashes | isEscaped) {
      /* In a run of backslashes, every other one begins an escape. One subtraction finds them in all runs. */
      const uint64_t odd = 0xAAAAAAAAAAAAAAAA;
      uint64_t begins = backslashes & ~isEscaped, parity = ((begins << 1 | odd) - begins) ^ odd;
      quotes &= ~(parity ^ (backslashes | isEscaped));
      isEscaped = (parity & backslashes) >> (length - 1) & 1;
    }
    uint64_t inside = strings(quotes) ^ inString;
    inString = 0 - (inside >> (length - 1) & 1);
    CJSON_block folded = v | CJSON_constants.fold;
    uint64_t opens = CJSON_MASK(folded == CJSON_constants.open) & ~inside, closes = CJSON_MASK(folded == CJSON_constants.close) & ~inside;
    bool isNested = depth > (uint64_t)__builtin_popcountll(closes) + 1 && depth + (uint64_t)__builtin_popcountll(opens) <= deepest;
    if (__builtin_expect(isNested && outline->member != CJSON_ERRORS, 1)) {
      if (!follow_nested(outline, &depth, block, opens, closes)) return false;
    } else {
      outline->depth = depth;
      if (!follow_outermost(outline, block, length, quotes, inside)) return false;
      depth = outline->depth;
    }
  }
  outline->inString = inString;
  outline->isEscaped = isEscaped;
  outline->depth = depth;
  return true;
}
