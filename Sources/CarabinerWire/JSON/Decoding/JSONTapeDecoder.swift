extension JSONTape {
  /// Decodes types that need a special JSON form; nil for all other types.
  ///
  /// - Throws: The error of the decoder of the value.
  package typealias ForeignTypes = (any Decodable.Type, JSONTapeDecoder) throws -> Any?

  /// Decodes a value directly from its text.
  ///
  /// - Parameter readsNumbersAsStrings: Whether a number is taken for a string with its digits.
  /// - Throws: ``JSONError`` if the text is not JSON, `DecodingError` if it does not fit the type.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], limits: JSONLimits = JSONLimits(), readsNumbersAsStrings: Bool = false,
    foreign: @escaping ForeignTypes = { _, _ in nil }
  ) throws -> Value {
    try JSONTape(scanning: bytes.span, limits: limits).decode(
      type, from: bytes, at: 0, readsNumbersAsStrings: readsNumbersAsStrings, foreign: foreign)
  }

  /// Decodes the value at one of the places of a text.
  ///
  /// - Parameters:
  ///   - bytes: The text whose tape this is.
  ///   - place: Which entry the value is.
  ///   - readsNumbersAsStrings: Whether a number is taken for a string with its digits.
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

/// Reads one value of a text.
///
/// Small enough to be kept inside an existential: none of what a type asks its decoder for is allocated, but for the box the
/// standard library puts keyed containers in.
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

  /// An error for a value that is of the right kind and still none of the type.
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
  /// The standard library would look up at each element what the array is made of.
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

  /// A function of its own, as what a cast to a type needs to know of it is looked up before anything else is done.
  @inline(never) private func cast<Value>(_ made: Any) throws -> Value {
    guard let value = made as? Value else { throw text.mismatch(Value.self, entry) }
    return value
  }
}
