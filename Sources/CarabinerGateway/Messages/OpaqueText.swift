internal import CarabinerWire

/// Encodes a header value that is not UTF-8 as a string. The HTTP/2 library stores values as strings, and would replace invalid
/// bytes.
///
/// The string is a mark, followed by one character for each byte. The code point of the character is the byte.
enum OpaqueText {
  private static let mark: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]

  /// Returns the UTF-8 of the text for a value; nil if the value is valid UTF-8 itself.
  static func utf8(of value: Span<UInt8>) -> [UInt8]? {
    guard !value.isUTF8 || value.hasPrefixIgnoringCase(mark.span) else { return nil }
    var text = mark
    for index in value.indices { text += String(Unicode.Scalar(value[index])).utf8 }
    return text
  }

  /// Whether a text begins with the mark.
  static func isMarked(_ text: String) -> Bool { text.utf8.first == mark[0] && text.utf8.starts(with: mark) }

  /// Returns the bytes of a value; nil if the text was not made from bytes.
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
