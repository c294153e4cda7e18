internal import CarabinerWire

/// The bytes of a header value as a text, because the library for HTTP/2 has texts, in which bytes that are not UTF-8 would be replaced.
///
/// The text is a mark, and then a character for each byte, which has the number of the byte.
enum OpaqueText {
  private static let mark: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]

  /// The UTF-8 of the text for a value; nil if the value is a text itself.
  static func utf8(of value: Span<UInt8>) -> [UInt8]? {
    guard !value.isUTF8 || value.hasPrefixIgnoringCase(mark.span) else { return nil }
    var text = mark
    for index in value.indices { text += String(Unicode.Scalar(value[index])).utf8 }
    return text
  }

  /// Whether a text may be one for bytes.
  static func isMarked(_ text: String) -> Bool { text.utf8.first == mark[0] && text.utf8.starts(with: mark) }

  /// The bytes of a value; nil if the text is not one for bytes.
  static func bytes(of text: [UInt8]) -> [UInt8]? {
    guard text.starts(with: mark) else { return nil }
    var bytes: [UInt8] = []
    for scalar in String(decoding: text[mark.count...], as: UTF8.self).unicodeScalars {
      guard let byte = UInt8(exactly: scalar.value) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
