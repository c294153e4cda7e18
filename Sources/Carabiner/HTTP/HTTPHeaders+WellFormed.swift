internal import CarabinerWire

extension HTTPHeaders.Field {
  /// Whether the field is valid in a message: the name is a token of RFC 9110, and the value has no control characters except
  /// tabs.
  package var isWellFormed: Bool {
    name.utf8Span.span.isToken && value.utf8Span.span.isPlainValue
  }
}
