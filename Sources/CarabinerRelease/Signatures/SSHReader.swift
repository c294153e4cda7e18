/// Reads the binary form of OpenSSH: numbers of 32 bits, and texts after their length, in network order.
struct SSHReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Sequence<UInt8>) { rest = ArraySlice(bytes) }

  var isAtEnd: Bool { rest.isEmpty }

  /// Whether the next bytes are those of a text; they are skipped.
  mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// The next number; nil if there are fewer than four bytes.
  mutating func number() -> Int? {
    guard rest.count >= 4 else { return nil }
    let value = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    rest = rest.dropFirst(4)
    return value
  }

  /// The next bytes after their length; nil if there are fewer.
  mutating func bytes() -> [UInt8]? {
    guard let count = number(), count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// The next text in ASCII.
  mutating func text() -> String? {
    guard let bytes = bytes(), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The next number of any length, which is not negative, in 32 bytes; nil if it needs more.
  mutating func number32() -> [UInt8]? {
    guard let bytes = bytes(), (bytes.first ?? 0) < 0x80 else { return nil }
    let digits = bytes.drop { $0 == 0 }
    return digits.count <= 32 ? [UInt8](repeating: 0, count: 32 - digits.count) + digits : nil
  }

  /// The form of a text: its length and its bytes.
  static func form(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let count = UInt32(truncatingIfNeeded: bytes.count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> UInt32($0)) } + bytes
  }
}
