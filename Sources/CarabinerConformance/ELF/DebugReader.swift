/// Reads the numbers and texts of debug information in order. After a read beyond the end, it is at its end and returns zeros.
struct DebugReader {
  private let bytes: [UInt8]
  private(set) var offset: Int
  /// Where it ends, in the bytes.
  let end: Int

  /// A longer text is cut off.
  private static let maximumTextBytes = 4096
  /// More bytes than any number of 64 bits has in LEB128.
  private static let maximumNumberBytes = 16

  /// A reader of a part of the bytes; it is empty if that is not inside of them.
  init(_ bytes: [UInt8], at offset: Int = 0, count: Int? = nil) {
    self.bytes = bytes
    let isInside = offset >= 0 && offset <= bytes.count
    self.offset = isInside ? offset : bytes.count
    end = isInside ? min(bytes.count, offset + min(max(count ?? bytes.count, 0), bytes.count)) : bytes.count
  }

  var isAtEnd: Bool { offset >= end }

  mutating func byte() -> UInt8 {
    guard offset < end else { return 0 }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// A little-endian number of up to 8 bytes.
  mutating func number(_ size: Int) -> UInt64 {
    guard size <= end - offset else {
      offset = end
      return 0
    }
    return (0..<size).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
  }

  /// A number in LEB128 without a sign.
  mutating func unsigned() -> UInt64 { variable().value }

  /// A number in LEB128 with a sign.
  mutating func signed() -> Int64 {
    let (value, width, isNegative) = variable()
    return Int64(bitPattern: isNegative && width < 64 ? value | ~0 << width : value)
  }

  private mutating func variable() -> (value: UInt64, width: UInt64, isNegative: Bool) {
    var value: UInt64 = 0
    for place in 0..<Self.maximumNumberBytes where !isAtEnd {
      let byte = byte()
      let width = UInt64(7 * place)
      if width < 64 { value |= UInt64(byte & 0x7F) << width }
      if byte & 0x80 == 0 { return (value, width + 7, byte & 0x40 != 0) }
    }
    return (value, 64, false)
  }

  /// A text that ends with NUL.
  mutating func text() -> String {
    let text = bytes[offset..<end].prefix { $0 != 0 }
    offset = min(text.endIndex + 1, end)
    return String(decoding: text.prefix(Self.maximumTextBytes), as: UTF8.self)
  }

  mutating func skip(_ count: UInt64) { offset += min(Int(clamping: count), end - offset) }
}
