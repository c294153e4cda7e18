internal import CarabinerWire

extension HTTPHeaders.Field {
  /// Whether the field is valid in a message: the name is a token of RFC 9110, and the value has no control characters except
  /// tabs.
  package var isWellFormed: Bool {
    !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
