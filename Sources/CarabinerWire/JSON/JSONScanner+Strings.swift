extension JSONScanner {
  /// Reads the string whose opening quote is at `quote`.
  @inline(always) static func string(
    from quote: Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> JSONStringRange {
    var offset = plainEnd(from: quote &+ 1, in: bytes)
    var hasEscapes = false
    if unsafe offset >= bytes.count || bytes[unchecked: offset] != UInt8(ascii: "\"") {
      hasEscapes = try unusualStringEnd(&offset, in: bytes)
    }
    return unsafe JSONStringRange(range: Range(uncheckedBounds: (quote &+ 1, offset)), hasEscapes: hasEscapes)
  }

  /// The end of the bytes that need no special handling in a string.
  @inline(always) private static func plainEnd(from start: Int, in bytes: Span<UInt8>) -> Int {
    var offset = start
    // The offset is not negative, and the loops compare it with the end.
    while offset <= bytes.count &- 8 {
      let notPlain = unsafe notPlain(in: bytes.word(atUnchecked: offset))
      guard notPlain == 0 else { return offset &+ notPlain.trailingZeroBitCount &>> 3 }
      offset &+= 8
    }
    while offset < bytes.count, unsafe isPlain(bytes[unchecked: offset]) { offset &+= 1 }
    return offset
  }

  @inline(always) private static func isPlain(_ byte: UInt8) -> Bool {
    byte &- 0x20 < 0x60 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Sets the highest bit of the first byte that is not plain, and perhaps of later ones.
  ///
  /// Borrows of the subtractions propagate only upwards, so errors are only after the first hit.
  @inline(always) private static func notPlain(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ ones &* 0x22
    let backslash = word ^ ones &* 0x5C
    let control = (word &- ones &* 0x20) & ~word
    let found = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | control | word
    return found & (ones &* 0x80)
  }

  /// Moves to the closing quote of a string with special bytes. Returns whether it has escapes.
  @inline(never) private static func unusualStringEnd(
    _ offset: inout Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> Bool {
    var hasEscapes = false
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") { return hasEscapes }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        offset = try escapeEnd(from: offset, in: bytes)
      } else if byte >= 0x80 {
        guard let length = UTF8Sequence.length(at: offset, in: bytes) else {
          throw .fault(.invalidUTF8, at: offset, "the text is not valid UTF-8")
        }
        offset += length
      } else {
        throw .fault(.controlCharacter, at: offset, "a control character in a string must be escaped")
      }
      offset = plainEnd(from: offset, in: bytes)
    }
    throw .end(at: offset)
  }

  private static func escapeEnd(from backslash: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
    guard backslash + 1 < bytes.count else { throw .end(at: bytes.count) }
    switch bytes[backslash + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return backslash + 2
    case UInt8(ascii: "u"): break
    default: throw .fault(.invalidEscape, at: backslash, "no such escape")
    }
    let unit = try codeUnit(from: backslash + 2, of: backslash, in: bytes)
    guard unit & 0xF800 == 0xD800 else { return backslash + 6 }
    let second = backslash + 6
    // A text that ends before the second half is incomplete, not invalid.
    let isCut = second == bytes.count || second + 1 == bytes.count && bytes[second] == UInt8(ascii: "\\")
    if unit < 0xDC00, isCut { throw .end(at: bytes.count) }
    guard unit < 0xDC00, bytes[second] == UInt8(ascii: "\\"), bytes[second + 1] == UInt8(ascii: "u"),
      try codeUnit(from: second + 2, of: second, in: bytes) & 0xFC00 == 0xDC00
    else { throw .fault(.loneSurrogate, at: backslash, "a surrogate is not part of a pair") }
    return second + 6
  }

  private static func codeUnit(
    from start: Int, of backslash: Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for offset in start..<start + 4 {
      guard offset < bytes.count else { throw .end(at: offset) }
      guard let digit = bytes[offset].hexadecimalValue else {
        throw .fault(.invalidEscape, at: backslash, "\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit; nil for other bytes.
  var hexadecimalValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
