extension JSONTape {
  /// Makes values of types that want something else of JSON than what they say to any decoder; nil for all other types.
  ///
  /// - Throws: What the decoder of the value throws.
  package typealias ForeignTypes = (any Decodable.Type, JSONTapeDecoder) throws -> Any?

  /// Decodes a value straight from the text it stands in.
  ///
  /// - Throws: ``JSONError`` if the text is not JSON, `DecodingError` if it does not fit the type.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], limits: JSONLimits = JSONLimits(), foreign: @escaping ForeignTypes = { _, _ in nil }
  ) throws -> Value {
    try JSONTapeDecoder(TapeText(bytes, limits: limits, foreign: foreign), 0, depth: 0).decode(type)
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
    if type == JSONValue.self, let value = try JSONValue(parsing: raw.span) as? Value { return value }
    if let made = try text.foreign(type, self), let value = made as? Value { return value }
    return try Value(from: self)
  }
}
