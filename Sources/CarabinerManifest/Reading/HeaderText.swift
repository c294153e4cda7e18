internal import CarabinerWire

/// What may stand in a header field (RFC 9110).
enum HeaderText {
  /// Whether a text is a token.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isTokenByte)
  }

  /// Whether a text has nothing that ends the line it stands on.
  static func isValue(_ text: String) -> Bool { !text.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }
}
