/// The rules of well-formed UTF-8 (Unicode, table 3-7).
enum UTF8Sequence {
  /// How many bytes the character that begins at `offset` with a byte above 0x7F has.
  static func length(at offset: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
    let first = bytes[offset]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: throw malformed(offset)
    }
    guard offset + length <= bytes.count, second.contains(bytes[offset + 1]) else { throw malformed(offset) }
    for index in 2..<max(length, 2) where bytes[offset + index] & 0xC0 != 0x80 { throw malformed(offset) }
    return length
  }

  private static func malformed(_ offset: Int) -> JSONError {
    JSONError(.invalidUTF8, at: offset, "the text is not valid UTF-8")
  }
}
