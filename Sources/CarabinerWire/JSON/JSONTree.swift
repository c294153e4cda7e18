/// A parsed text, with the number of repeated names.
public struct JSONTree: Sendable {
  /// The value.
  public let value: JSONValue
  /// The number of members that repeat a name in their object.
  public let duplicates: Int

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault; a text of 2 GiB or more is `tooDeep`.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var reader = TapeReader(try JSONTape(scanning: bytes, limits: limits), sharesNames: true)
    value = reader.value(at: 0, in: bytes)
    duplicates = reader.duplicates
  }
}
