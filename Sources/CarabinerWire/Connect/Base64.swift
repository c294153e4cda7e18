/// Bytes as text in base64 (RFC 4648).
package enum Base64 {
  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  private static let alphabet = Array("\(letters)+/".utf8)
  private static let urlAlphabet = Array("\(letters)-_".utf8)

  /// The bytes with padding.
  package static func encoded(_ bytes: some Collection<UInt8>) -> String {
    var text = encoded(bytes, alphabet)
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes in the alphabet of URLs, without padding.
  package static func urlEncoded(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: encoded(bytes, urlAlphabet), as: UTF8.self)
  }

  private static func encoded(_ bytes: some Collection<UInt8>, _ alphabet: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits = 0
    var pending: UInt32 = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(pending >> UInt32(bits) & 0x3F)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(pending << UInt32(6 - bits) & 0x3F)]) }
    return text
  }

  /// The bytes of a text in either alphabet, with or without padding; nil if the text is malformed.
  package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
    let characters = Array(text.utf8)
    let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    let digits = characters.dropLast(padding)
    guard padding <= 2, padding == 0 || characters.count % 4 == 0, digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var bits = 0
    var pending: UInt32 = 0
    for character in digits {
      guard let digit = value(of: character) else { return nil }
      pending = pending << 6 | digit
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
