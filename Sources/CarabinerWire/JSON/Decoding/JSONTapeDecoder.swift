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
    try decoder(of: bytes, at: place, readsNumbersAsStrings: readsNumbersAsStrings, foreign: foreign).decode(type)
  }

  /// A decoder of the value of an entry, with the parameters of ``decode(_:from:at:readsNumbersAsStrings:foreign:)``.
  package func decoder(
    of bytes: [UInt8], at place: Int, readsNumbersAsStrings: Bool, foreign: @escaping ForeignTypes
  ) -> JSONTapeDecoder {
    let text = TapeText(
      bytes, entries, root: Int32(truncatingIfNeeded: place), readsNumbersAsStrings: readsNumbersAsStrings, foreign: foreign)
    return JSONTapeDecoder(text, text.root, depth: 0)
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
  package func number(_ type: any Any.Type) throws -> JSONNumber { JSONNumber(checked: try text.digits(type, entry)) }

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
    if case .plain = text.forms[type] { return try Value(from: self) }
    return try decodeUncommon(type)
  }

  /// Decodes a type that is not plain, or was not decoded before. A separate function, because looking up these types takes time.
  @inline(never) private func decodeUncommon<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == [String].self { return unsafe unsafeBitCast(try strings(), to: Value.self) }
    if type == [Int].self { return unsafe unsafeBitCast(try elements(Int.self), to: Value.self) }
    if type == [Double].self { return unsafe unsafeBitCast(try elements(Double.self), to: Value.self) }
    switch text.forms[type] {
    case .plain: return try Value(from: self)
    case .array(let type): return text.isArray(entry) ? try cast(type.init(elementsOf: self)) : try Value(from: self)
    case .special, nil: break
    }
    if type == JSONValue.self { return try cast(JSONValue(parsing: raw.span)) }
    text.forms[type] = .special
    if let made = try text.foreign(type, self) { return try cast(made) }
    text.forms[type] = if let type = type as? any TapeArray.Type { .array(type) } else { .plain }
    return try decode(type)
  }

  /// The elements of a list of strings.
  ///
  /// - Throws: `DecodingError` if the value is another one.
  package func strings() throws -> [String] { try elements(String.self) }

  private func elements<Element: TapeScalar>(_ type: Element.Type) throws -> [Element] {
    guard text.isArray(entry) else { throw text.mismatch([Any].self, entry) }
    var next = entry + 1
    let end = text.entries[Int(entry)].next
    // An array with a given capacity would look up the type of its memory.
    var elements: [Element] = []
    elements.reserveCapacity(Int(end - next))
    while next < end {
      elements.append(try Element(text, next))
      next = text.entries[Int(next)].next
    }
    return elements
  }

  /// The pattern needs no optional, whose type would be looked up.
  @inline(never) private func cast<Made, Value>(_ made: Made) throws -> Value {
    switch made {
    case let value as Value: return value
    default: throw text.mismatch(Value.self, entry)
    }
  }
}
