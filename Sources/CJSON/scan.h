/* The scan, which each variant compiles for its processors.
 *
 * A block is 64 bytes, and the lowest bit of a mask is its first byte. Adding a bit to a run of ones moves the bit behind the run, so one
 * addition finds the ends of many runs. A run that goes on in the next block is carried over.
 *
 * Nothing outside of the text is read: the last block is a copy with spaces behind it. */

/* The state where a block begins. Flags are one or zero, so that they are masks of the first byte. */
struct scan {
  /* Whether it is in a string, and whether it is in an object, as all ones or zero. */
  uint64_t inString, inObject;
  /* Whether it is in a number or word, after the backslash of an escape, where a value is due, and in a member before its colon. */
  uint64_t inScalar, isEscaped, isDue, isNaming;
  size_t depth, deepest;
};

/* An incomplete character at the end of a block: its bytes in the next block, and whether the first of them is restricted. */
struct character {
  uint64_t rest, e0, ed, f0, f4;
};

/* An incomplete number or word at the end of a block. */
struct scalar {
  /* Whether the last byte is not a digit, and then which byte it is: a minus at the beginning, a point, an `e`, or the sign after it. */
  uint64_t isOdd, minus, point, power, sign;
  /* Whether the last digits are before a point, after a point, and only a zero at the beginning. */
  uint64_t whole, fraction, zero;
  /* The letters of a word in the next block. */
  uint64_t word;
};

/* The state that few blocks use, or that registers cannot hold. */
struct memory {
  struct character character;
  struct scalar scalar;
  /* Where the second half of a surrogate pair begins. */
  const uint8_t *low;
  /* The kinds of the open containers: -1 for an object, 0 for an array. */
  int8_t kinds[CJSON_DEEPEST + 1];
};

/* A tape that is being written. */
struct tape {
  struct CJSON_entry *entries;
  size_t most, count;
  /* The entry of the innermost open container. While a container is open, its `next` is the container around it. */
  int32_t innermost;
};

/* A search for members. */
struct search {
  CJSON_visit visit;
  void *context;
  bool isObject;
  /* The next member, and how many of its places are known. */
  struct CJSON_member member;
  int known;
};

CJSON_INLINE uint64_t add(uint64_t left, uint64_t right, uint64_t *carry) {
  unsigned long long sum;
  *carry = __builtin_uaddll_overflow(left, right, &sum);
  return sum;
}

/* Ones from each opening quote to before its closing quote. */
CJSON_INLINE uint64_t strings(uint64_t quotes) {
#ifdef CARRYLESS_MULTIPLICATION
  return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)quotes), _mm_set1_epi8(-1), 0));
#else
  for (int distance = 1; distance < CJSON_SIZE; distance *= 2) quotes ^= quotes << distance;
  return quotes;
#endif
}

/* Whether a block is well-formed UTF-8 (Unicode, table 3-7). */
CJSON_RARE static bool is_utf8(struct character *carry, const uint8_t *block) {
  CJSON_block v;
  memcpy(&v, block, CJSON_SIZE);
  CJSON_signed s = (CJSON_signed)v;
  uint64_t rest = CJSON_MASK(s < (int8_t)0xC0), first = CJSON_MASK(s < 0) & ~rest;
  uint64_t three = CJSON_MASK(s >= (int8_t)0xE0) & first, four = CJSON_MASK(s >= (int8_t)0xF0) & first;
  uint64_t bad = (first << 1 | three << 2 | four << 3 | carry->rest) ^ rest;
  bad |= first & ~CJSON_MASK(v - 0xC2 <= 0xF4 - 0xC2);
  uint64_t e0 = CJSON_MASK(v == 0xE0), ed = CJSON_MASK(v == 0xED), f0 = CJSON_MASK(v == 0xF0), f4 = CJSON_MASK(v == 0xF4);
  if (e0 | ed | f0 | f4 | carry->e0 | carry->ed | carry->f0 | carry->f4) {
    uint64_t from90 = CJSON_MASK(v >= 0x90), fromA0 = CJSON_MASK(v >= 0xA0);
    bad |= (e0 << 1 | carry->e0) & ~fromA0;
    bad |= (ed << 1 | carry->ed) & fromA0;
    bad |= (f0 << 1 | carry->f0) & ~from90;
    bad |= (f4 << 1 | carry->f4) & from90;
  }
  *carry = (struct character){first >> 63 | three >> 62 | four >> 61, e0 >> 63, ed >> 63, f0 >> 63, f4 >> 63};
  return !bad;
}

/* Whether the numbers and words of a block are valid.
 *
 * Digits are due at the beginning of a number or after its minus, after a point, and after an `e` or its sign. A point must follow digits
 * of the first kind, an `e` those of the first two. Each run of digits must begin where digits are due, and each other byte must be one of
 * these or in a word. */
CJSON_INLINE bool are_scalars(
    struct scalar *carry, const uint8_t *block, const uint8_t *text, const uint8_t *end, uint64_t scalars, uint64_t begins,
    uint64_t continues) {
  CJSON_block v;
  memcpy(&v, block, CJSON_SIZE);
  uint64_t digit = CJSON_MASK((CJSON_signed)(v + CJSON_constants.toDigits) > (CJSON_signed)CJSON_constants.belowDigits) & scalars;
  uint64_t zero = CJSON_MASK(v == CJSON_constants.zero), whole = begins & digit;
  bool isCut = scalars >> 63;
  if (!((scalars & ~digit) | carry->isOdd)) {
    /* Only integers, and further digits of a number in the block before. */
    zero &= whole;
    if ((zero << 1 | carry->zero) & digit) return false;
    if (isCut) {
      carry->zero = zero >> 63;
      if (begins) carry->whole = 1, carry->fraction = 0;
    } else if (continues) {
      *carry = (struct scalar){0};
    }
    return true;
  }

  uint64_t minus = CJSON_MASK(v == CJSON_constants.minus), point = CJSON_MASK(v == CJSON_constants.point) & scalars;
  uint64_t lead = minus & begins, word = 0, nextWord = 0;
  for (uint64_t words = begins & ~(digit | minus); words; words &= words - 1) {
    int start = __builtin_ctzll(words);
    if (start < CJSON_SIZE - 4) {
      uint32_t four;
      memcpy(&four, block + start, sizeof four);
      if (four == 0x65757274 /* true */ || four == 0x6C6C756E /* null */) word |= 0xFull << start;
      else if (four == 0x736C6166 /* fals */ && block[start + 4] == 'e') word |= 0x1Full << start;
      else return false;
    } else {
      uint64_t letters = CJSON_letters(text + start, end);
      if (!letters) return false;
      word |= letters << start;
      nextWord = letters >> (CJSON_SIZE - start);
    }
  }
  uint64_t fraction = point << 1, power = 0, due = 0, runs = digit << 1, wholeCarry = 0, fractionCarry = 0, zeroCarry = 0;
  whole |= lead << 1;
  if (continues) {
    word |= carry->word;
    whole |= carry->minus;
    fraction |= carry->point;
    power = carry->power;
    due = carry->sign;
    runs |= 1 & ~carry->isOdd;
    wholeCarry = carry->whole;
    fractionCarry = carry->fraction;
    zeroCarry = carry->zero;
  }
  zero &= whole;
  due |= whole | fraction;
  uint64_t wholeEnds = (whole + digit + wholeCarry) & ~digit, bad = point & ~wholeEnds;
  uint64_t others = scalars & ~(digit | lead | point | word), letter = 0, sign = 0;
  if (others | power) {
    uint64_t fractionEnds = (fraction + digit + fractionCarry) & ~digit;
    letter = CJSON_MASK((v | 0x20) == 'e') & others;
    power |= letter << 1;
    sign = power & (CJSON_MASK(v == '+') | minus);
    due |= (power & ~sign) | sign << 1;
    bad |= (letter & ~(wholeEnds | fractionEnds)) | (others & ~(letter | sign));
  }
  bad |= (due & ~digit) | (digit & ~(runs | due)) | ((zero << 1 | zeroCarry) & digit);
  if (isCut) {
    uint64_t carries[4];
    add(add(whole, digit, &carries[0]), wholeCarry, &carries[1]);
    add(add(fraction, digit, &carries[2]), fractionCarry, &carries[3]);
    *carry = (struct scalar){
        .isOdd = ~digit >> 63,
        .minus = lead >> 63,
        .point = point >> 63,
        .sign = sign >> 63,
        .power = letter >> 63,
        .whole = carries[0] | carries[1],
        .fraction = carries[2] | carries[3],
        .zero = zero >> 63,
        .word = nextWord,
    };
  } else if (continues) {
    *carry = (struct scalar){0};
  }
  return !bad;
}

/* Adds the entries of a block.
 *
 * Containers count as ending where they begin. Then values and names end in the order in which they begin, after the one that began in an
 * earlier block. */
CJSON_INLINE bool add_entries(
    struct tape *tape, const uint8_t *text, size_t at, uint64_t starts, uint64_t ends, uint64_t opens, uint64_t closes, uint64_t escapes) {
  size_t first = tape->count;
  if ((size_t)__builtin_popcountll(starts) > tape->most - first) return false;
  if (ends & ~starts & (starts - 1)) {
    tape->entries[first - 1].end = (int32_t)(at + (size_t)__builtin_ctzll(ends));
    ends &= ends - 1;
  }
  ends |= opens;
  struct CJSON_entry *entry = tape->entries + first;
  uint64_t half = at | (uint64_t)(first + 1) << 32;
  for (uint64_t rest = starts; rest; rest &= rest - 1, ends &= ends - 1, half += 1ull << 32) {
    size_t start = (size_t)__builtin_ctzll(rest);
    /* Two stores instead of four. The end of a value that goes on in the next block is not known yet. */
    uint64_t halves[2] = {CJSON_heads[text[start]] + ((at + start) << 32), half + (ends ? (uint64_t)__builtin_ctzll(ends) : CJSON_SIZE)};
    memcpy(entry++, halves, sizeof halves);
  }
  tape->count = (size_t)(entry - tape->entries);
  for (uint64_t brackets = opens | closes; brackets; brackets &= brackets - 1) {
    uint64_t before = (brackets & (0 - brackets)) - 1;
    size_t index = first + (size_t)__builtin_popcountll(starts & before);
    if (opens & (before + 1)) {
      tape->entries[index].next = tape->innermost;
      tape->innermost = (int32_t)index;
    } else {
      struct CJSON_entry *container = &tape->entries[tape->innermost];
      tape->innermost = container->next;
      container->end = (int32_t)(at + (size_t)__builtin_ctzll(brackets) + 1);
      container->next = (int32_t)index;
    }
  }
  for (; escapes; escapes &= escapes - 1) {
    uint64_t before = (escapes & (0 - escapes)) - 1;
    tape->entries[first + (size_t)__builtin_popcountll(starts & before) - 1].kind = CJSON_ESCAPED_STRING;
  }
  return true;
}

/* Visits the members of the outermost object that end in a block.
 *
 * Names and values alternate there, and so do beginnings and ends. */
CJSON_RARE static void visit_members(
    struct search *search, const uint8_t *bytes, size_t at, size_t depth, uint64_t starts, uint64_t ends, uint64_t opens, uint64_t closes) {
  uint64_t outermost = depth == 1 ? ~0ull : 0, returns = 0;
  for (uint64_t brackets = opens | closes; brackets; brackets &= brackets - 1) {
    uint64_t bit = brackets & (0 - brackets), after = 0 - (bit << 1);
    if (opens & bit) {
      if (depth == 0) search->isObject = bytes[at + (size_t)__builtin_ctzll(bit)] == '{';
      depth++;
    } else if (--depth == 1) {
      returns |= bit;
    }
    outermost = depth == 1 ? outermost | after : outermost & ~after;
  }
  if (!search->isObject) return;
  starts &= outermost;
  ends = (ends & outermost) | returns;
  for (;;) {
    uint64_t *places = search->known & 1 ? &ends : &starts;
    if (!*places) return;
    size_t place = at + (size_t)__builtin_ctzll(*places);
    *places &= *places - 1;
    switch (search->known++) {
    case 0: search->member.nameStart = place + 1; break;
    case 1: search->member.nameEnd = place; break;
    case 2: search->member.valueStart = place; break;
    default: {
      /* Strings and containers end with a quote or bracket, other values before the next byte. */
      uint8_t byte = bytes[search->member.valueStart];
      search->member.valueEnd = place + (byte == '"' || byte == '{' || byte == '[');
      search->known = 0;
      search->visit(search->context, search->member);
    }
    }
  }
}

/* Whether a text can be valid up to the end of a block. `block` has the bytes of `text`, and spaces after the end of the text. One of
 * `tape` and `search` is null. */
CJSON_INLINE bool is_valid(
    struct scan *scan, struct memory *memory, const uint8_t *block, const uint8_t *text, const uint8_t *end, const uint8_t *bytes,
    struct tape *tape, struct search *search) {
  CJSON_block v;
  memcpy(&v, block, CJSON_SIZE);
  CJSON_signed s = (CJSON_signed)v;
  uint64_t quote = CJSON_MASK(v == CJSON_constants.quote), escapes = 0, control = 0;
  /* Control characters, characters beyond ASCII, and backslashes. */
  if (CJSON_MASK((s < (CJSON_signed)CJSON_constants.space) | (v == CJSON_constants.backslash)) | scan->isEscaped) {
    uint64_t backslash = CJSON_MASK(v == CJSON_constants.backslash), high = CJSON_MASK(s < 0);
    control = CJSON_MASK(s < (CJSON_signed)CJSON_constants.space) & ~high;
    if (backslash | scan->isEscaped) {
      /* In a run of backslashes, every other one begins an escape. One subtraction finds them in all runs. */
      const uint64_t odd = 0xAAAAAAAAAAAAAAAA;
      uint64_t begins = backslash & ~scan->isEscaped, parity = ((begins << 1 | odd) - begins) ^ odd;
      quote &= ~(parity ^ (backslash | scan->isEscaped));
      escapes = parity & backslash;
      scan->isEscaped = escapes >> 63;
      if (escapes && !CJSON_areEscapes(text, end, escapes, &memory->low)) return false;
    }
    if (high) {
      if (!is_utf8(&memory->character, block)) return false;
      /* The rest of an incomplete character is checked with the next block, if that begins with a byte beyond ASCII. */
      if (memory->character.rest && (end - text <= CJSON_SIZE || text[CJSON_SIZE] < 0x80)) return false;
    }
  }
  uint64_t inside = strings(quote) ^ scan->inString, outside = ~inside;
  scan->inString = (uint64_t)((int64_t)inside >> 63);
  if (control & inside) return false;
  if (!(quote | outside)) {
    if (tape && escapes) tape->entries[tape->count - 1].kind = CJSON_ESCAPED_STRING;
    return true;
  }

  CJSON_block folded = v | CJSON_constants.fold;
  uint64_t colons = CJSON_MASK(v == CJSON_constants.colon) & outside, commas = CJSON_MASK(v == CJSON_constants.comma) & outside;
  uint64_t opens = CJSON_MASK(folded == CJSON_constants.open) & outside, closes = CJSON_MASK(folded == CJSON_constants.close) & outside;
  uint64_t white = CJSON_MASK(v == CJSON_constants.space) & outside;
  if (control) white |= (CJSON_MASK(v == '\n') | CJSON_MASK(v == '\r') | CJSON_MASK(v == '\t')) & outside;
  uint64_t separators = opens | commas, before = separators | colons, skipped = inside | quote | white;
  uint64_t scalars = ~(before | skipped | closes), continued = scalars << 1 | scan->inScalar, begins = scalars & ~continued;
  uint64_t continues = scan->inScalar;
  scan->inScalar = scalars >> 63;
  uint64_t starts = (quote & inside) | begins | opens;

  /* Which bytes are in objects. An opening bracket is in the container around it. */
  uint64_t objects = scan->inObject, bad = 0;
  size_t depth = scan->depth, least = depth;
  if (__builtin_expect(depth == 0, 0)) bad = commas & ((opens & (0 - opens)) - 1);
  for (uint64_t brackets = opens | closes; brackets; brackets &= brackets - 1) {
    uint64_t upToHere = brackets ^ (brackets - 1);
    /* The bit in which curly brackets differ from others, as a sign. */
    int8_t kind = (int8_t)((int8_t)(text[__builtin_ctzll(brackets)] << 2) >> 7);
    if (opens & brackets & (0 - brackets)) {
      if (scan->depth == scan->deepest) return false;
      memory->kinds[++scan->depth] = kind;
    } else {
      if (scan->depth == 0 || memory->kinds[scan->depth] != kind) return false;
      if (--scan->depth < least) least = scan->depth;
      if (scan->depth == 0) bad |= commas & ~upToHere;
    }
    scan->inObject = (uint64_t)(int64_t)memory->kinds[scan->depth];
    objects ^= (objects ^ scan->inObject) & ~upToHere;
  }

  /* Values and names begin exactly where they are due, except that an empty container closes there. */
  uint64_t due = before << 1 | scan->isDue, carry = 0;
  if (white) due = add(due, white, &carry) & ~white;
  scan->isDue = before >> 63 | carry;
  uint64_t empty = due & closes;
  bad |= (due ^ starts) & ~closes;
  /* In an object, the run of strings and white space after the opening bracket or a comma ends at a colon, and each colon is such an end. A
   * run has one string, because nothing begins where nothing is due. */
  uint64_t ends = add((separators << 1 | scan->isNaming) & objects, skipped, &carry) & ~skipped;
  scan->isNaming = separators >> 63 | carry;
  bad |= (ends ^ colons) & ~empty;
  if (bad || (empty && !CJSON_areEmpty(text, empty))) return false;

  if (tape) {
    uint64_t ended = (quote & outside) | (continued & ~scalars);
    if (!add_entries(tape, text, (size_t)(text - bytes), starts, ended, opens, closes, escapes & inside)) return false;
  } else if (least <= 1) {
    uint64_t ended = (quote & outside) | (continued & ~scalars);
    visit_members(search, bytes, (size_t)(text - bytes), depth, starts, ended, opens, closes);
  }
  return !(scalars | continues) || are_scalars(&memory->scalar, block, text, end, scalars, begins, continues);
}

CJSON_INLINE bool scan(const uint8_t *bytes, size_t count, size_t deepest, struct tape *tape, struct search *search) {
  struct scan scan = {.isDue = 1, .deepest = deepest < CJSON_DEEPEST ? deepest : CJSON_DEEPEST};
  struct memory memory;
  memory.character = (struct character){0};
  memory.scalar = (struct scalar){0};
  memory.low = NULL;
  memory.kinds[0] = 0;
  uint8_t last[CJSON_SIZE];
  const uint8_t *end = bytes + count;
  if (count == 0) return false;
  /* If a text ends with a full block, a block of spaces follows, which ends a number. */
  for (size_t at = 0; at <= count; at += CJSON_SIZE) {
    const uint8_t *text = bytes + at, *block = text;
    if (end - text < CJSON_SIZE) {
      CJSON_pad(last, text, end);
      block = last;
    }
    if (!is_valid(&scan, &memory, block, text, end, bytes, tape, search)) return false;
  }
  return !(scan.inString | scan.isDue | scan.depth);
}

size_t VARIANT(CJSON_mostEntries)(const uint8_t *bytes, size_t count) {
  /* One, and one for each byte that can be before a value or a name. */
  size_t most = 1;
  const uint8_t *text = bytes, *end = bytes + count;
  for (; end - text >= CJSON_SIZE; text += CJSON_SIZE) {
    CJSON_block v;
    memcpy(&v, text, CJSON_SIZE);
    most += (size_t)__builtin_popcountll(
        CJSON_MASK((v == CJSON_constants.comma) | (v == CJSON_constants.colon) | ((v | CJSON_constants.fold) == CJSON_constants.open)));
  }
  for (; text < end; text++) most += *text == ',' || *text == ':' || *text == '{' || *text == '[';
  return most;
}

ptrdiff_t VARIANT(CJSON_record)(const uint8_t *bytes, size_t count, size_t deepest, struct CJSON_entry *entries, size_t most) {
  struct tape tape = {entries, most, 0, -1};
  return count < INT32_MAX && scan(bytes, count, deepest, &tape, NULL) ? (ptrdiff_t)tape.count : -1;
}

int VARIANT(CJSON_locate)(const uint8_t *bytes, size_t count, size_t deepest, CJSON_visit visit, void *context) {
  struct search search = {.visit = visit, .context = context};
  return scan(bytes, count, deepest, NULL, &search) ? search.isObject : -1;
}
