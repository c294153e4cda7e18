extension JSONScanner {
  /// The end of the string whose opening quote is at `quote`, after its closing quote.
  static func stringEnd(from quote: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
    var offset = quote + 1
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: "\""): return offset + 1
      case UInt8(ascii: "\\"): offset = try escapeEnd(from: offset, in: bytes)
      case 0x00..<0x20: throw .fault(.controlCharacter, at: offset, "a control character in a string must be escaped")
      case 0x20..<0x80: offset += 1
      default:
        guard let length = UTF8Sequence.length(at: offset, in: bytes) else {
          throw .fault(.invalidUTF8, at: offset, "the text is not valid UTF-8")
        }
        offset += length
      }
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
