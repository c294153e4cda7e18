/// The bytes that the grammar of HTTP/1.1 names.
enum Byte {
  static let tab: UInt8 = 9
  static let lineFeed: UInt8 = 10
  static let carriageReturn: UInt8 = 13
  static let space: UInt8 = 32
  static let zero: UInt8 = 48
  static let colon: UInt8 = 58
  static let delete: UInt8 = 127

  /// The byte in lower case.
  static func folded(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

  static func isSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab }
}

extension Span<UInt8> {
  /// The index of the first colon from `start` on; the count if there is none.
  func firstColon(from start: Int) -> Int {
    var index = start
    while index &+ 8 <= count {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      let difference = word ^ 0x3A3A_3A3A_3A3A_3A3A
      let found = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if found != 0 { return index &+ UInt64(littleEndian: found).trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count, self[index] != Byte.colon { index &+= 1 }
    return index
  }

  /// Whether a range is this text, ignoring the case of letters.
  ///
  /// - Parameter text: A text in lower case.
  func isEqual(at range: Range<Int>, to text: StaticString) -> Bool {
    guard range.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where Byte.folded(self[range.lowerBound &+ index]) != text[index] { return false }
    return true
  }
}

extension StaticString {
  subscript(index: Int) -> UInt8 { unsafe utf8Start[index] }
}

extension String {
  /// The text of bytes that may come from anywhere, at most 40 of them, quoted.
  init(quoting bytes: Span<UInt8>, from start: Int) {
    var text: [UInt8] = []
    for index in start..<Swift.min(bytes.count, start + 40) {
      if bytes[index] == Byte.lineFeed || bytes[index] == Byte.carriageReturn { break }
      text.append(bytes[index])
    }
    self = String(decoding: text, as: UTF8.self).debugDescription
  }
}
