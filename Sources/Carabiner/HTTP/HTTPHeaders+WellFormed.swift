internal import CarabinerWire

extension HTTPHeaders.Field {
  /// Whether the field can stand in a message without ending a line early: a name of RFC 9110, and a value without control characters.
  package var isWellFormed: Bool {
    !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
