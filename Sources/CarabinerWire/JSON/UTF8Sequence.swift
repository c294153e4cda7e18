/// The rules of well-formed UTF-8 (Unicode, table 3-7).
enum UTF8Sequence {
  /// The number of bytes of the character that begins at `offset` with a byte above 0x7F; nil if it is malformed or incomplete.
  static func length(at offset: Int, in bytes: Span<UInt8>) -> Int? {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[offset] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: return nil
    }
    guard length <= bytes.count - offset, second.contains(bytes[offset + 1]) else { return nil }
    for place in offset + 2..<max(offset + length, offset + 2) where bytes[place] & 0xC0 != 0x80 {
      return nil
    }
    return length
  }
}
