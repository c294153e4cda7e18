internal import CarabinerWire

/// The characters that are allowed in a header field (RFC 9110).
enum HeaderText {
  /// Whether a text is a token.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isTokenByte)
  }

  /// Whether a text contains neither NUL nor a line end.
  static func isValue(_ text: String) -> Bool { !text.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }
}
