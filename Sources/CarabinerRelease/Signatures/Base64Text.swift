/// Bytes as text in base64 (RFC 4648), as OpenSSH writes and reads them.
enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The bytes with padding.
  static func encoded(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    var (pending, bits) = (0, 0)
    for byte in bytes {
      (pending, bits) = (pending << 8 & 0xFFFF | Int(byte), bits + 8)
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[pending >> bits & 63])
      }
    }
    if bits > 0 { text.append(alphabet[pending << (6 - bits) & 63]) }
    while text.count % 4 != 0 { text.append(padding) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text that may have white space anywhere; nil if it is malformed.
  ///
  /// Padding is required, and the bits that it leaves over must be 0. So a value has one text, apart from white space.
  static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
    let characters = text.filter { !isWhiteSpace($0) }
    let digits = characters.prefix { $0 != padding }
    let padded = characters.count - digits.count
    guard characters.count % 4 == 0, padded <= 2, characters[digits.endIndex...].allSatisfy({ $0 == padding }) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var (pending, bits) = (0, 0)
    for character in digits {
      guard let digit = value(of: character) else { return nil }
      (pending, bits) = (pending << 6 & 0xFFFF | digit, bits + 6)
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
      }
    }
    return pending & (1 << bits - 1) == 0 ? bytes : nil
  }

  /// As isspace of C.
  private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func value(of character: UInt8) -> Int? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) - 48 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
