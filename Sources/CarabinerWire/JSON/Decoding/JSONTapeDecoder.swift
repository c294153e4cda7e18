extension JSONTape {
  /// Decodes types that need a special JSON form; nil for all other types.
  ///
  /// - Throws: The error of the decoder of the value.
  package typealias ForeignTypes = (any Decodable.Type, JSONTapeDecoder) throws -> Any?

  /// Decodes a value directly from its text.
  ///
  /// - Parameter readsNumbersAsStrings: Whether a number may be decoded as a string of its digits.
  /// - Throws: ``JSONError`` if the text is not JSON, `DecodingError` if it does not fit the type.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], limits: JSONLimits = JSONLimits(), readsNumbersAsStrings: Bool = false,
    foreign: @escaping ForeignTypes = { _, _ in nil }
  ) throws -> Value {
    try JSONTape(scanning: bytes.span, limits: limits).decode(
      type, from: bytes, at: 0, readsNumbersAsStrings: readsNumbersAsStrings, foreign: foreign)
  }

  /// Decodes the value of an entry.
  ///
  /// - Parameters:
  ///   - bytes: The text of this tape.
  ///   - place: The index of the entry.
  ///   - readsNumbersAsStrings: Whether a number may be decoded as a string of its digits.
  /// - Throws: `DecodingError` if it does not fit the type.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], at place: Int, readsNumbersAsStrings: Bool = false,
    foreign: @escaping ForeignTypes = { _, _ in nil }
  ) throws -> Value {
    let text = TapeText(
      bytes, entries, root: Int32(truncatingIfNeeded: place), readsNumbersAsStrings: readsNumbersAsStrings, foreign: foreign)
    return try JSONTapeDecoder(text, text.root, depth: 0).decode(type)
  }
}

/// Decodes one value of a text.
///
/// Small enough to be stored inline in an existential, so that decoding allocates nothing except the standard library's box for
/// keyed containers.
package struct JSONTapeDecoder: Decoder {
  let text: TapeText
  let entry: Int32
  let depth: Int32

  init(_ text: TapeText, _ entry: Int32, depth: Int32) {
    self.text = text
    self.entry = entry
    self.depth = depth
  }

  package var codingPath: [any CodingKey] { text.path(to: entry) }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The raw JSON of the value.
  package var raw: ArraySlice<UInt8> { text.raw(entry) }

  /// The value if it is a number.
  ///
  /// - Throws: `DecodingError` if it is not.
  package func number(_ type: any Any.Type) throws -> JSONNumber { JSONNumber(checked: try digits(type)) }

  /// The text of the value if it is a string.
  ///
  /// - Throws: `DecodingError` if it is not, a number included.
  package func string() throws -> String {
    switch text.entries[Int(entry)].kind {
    case .string, .escapedString: return text.text(of: entry)
    case .null, .scalar, .object, .array: throw text.mismatch(String.self, entry)
    }
  }

  /// An error for a value of the right kind that is not valid for the type.
  package func corrupted(_ message: String) -> DecodingError { text.corrupted(entry, message) }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object = text.entries[Int(entry)].kind else { throw text.mismatch([String: Any].self, entry) }
    return KeyedDecodingContainer(TapeKeyedContainer<Key>(text: text, object: entry, depth: depth))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array = text.entries[Int(entry)].kind else { throw text.mismatch([Any].self, entry) }
    return TapeUnkeyedContainer(text, array: entry, depth: depth)
  }

  package func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension JSONTapeDecoder: SingleValueDecodingContainer {
  package func decodeNil() -> Bool { text.isNull(entry) }

  package func decode<Value: TapeScalar>(_ type: Value.Type) throws -> Value { try Value(reading: self) }

  package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == JSONValue.self { return try cast(JSONValue(parsing: raw.span)) }
    if let made = try text.foreign(type, self) ?? scalars(type) { return try cast(made) }
    return try Value(from: self)
  }

  /// An array of scalars of the usual types; nil for any other type.
  ///
  /// The standard library would check the element type again for each element.
  private func scalars(_ type: any Decodable.Type) throws -> Any? {
    if type == [String].self { return try elements(String.self) }
    if type == [Int].self { return try elements(Int.self) }
    if type == [Double].self { return try elements(Double.self) }
    return nil
  }

  private func elements<Element: TapeScalar>(_ type: Element.Type) throws -> [Element] {
    guard case .array = text.entries[Int(entry)].kind else { throw text.mismatch([Any].self, entry) }
    let end = text.entries[Int(entry)].next
    var elements: [Element] = []
    elements.reserveCapacity(Int(end - entry) - 1)
    var next = entry + 1
    while next < end {
      elements.append(try Element(reading: JSONTapeDecoder(text, next, depth: depth + 1)))
      next = text.entries[Int(next)].next
    }
    return elements
  }

  /// A separate function: the type metadata for the cast is looked up on entry, which would slow down other paths.
  @inline(never) private func cast<Value>(_ made: Any) throws -> Value {
    guard let value = made as? Value else { throw text.mismatch(Value.self, entry) }
    return value
  }
}
