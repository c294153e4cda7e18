extension JSONValue {
  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    self = try JSONTree(parsing: bytes, limits: limits).value
  }

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: bytes.span, limits: limits)
  }

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: text.utf8Span.span, limits: limits)
  }
}
