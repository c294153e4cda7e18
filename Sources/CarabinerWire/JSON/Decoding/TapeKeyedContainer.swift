/// The members of an object.
struct TapeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let text: TapeText
  let object: Int32
  let depth: Int32

  var codingPath: [any CodingKey] { text.path(to: object) }
  var allKeys: [Key] { text.names(of: object).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode<Value: TapeScalar>(_ type: Value.Type, forKey key: Key) throws -> Value { try Value(reading: member(key)) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).decode(type) }

  func decodeIfPresent<Value: TapeScalar>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = find(key), !value.decodeNil() else { return nil }
    return try Value(reading: value)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = find(key), !value.decodeNil() else { return nil }
    return try value.decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }

  func superDecoder() throws -> any Decoder {
    let name = TapeKey(stringValue: "super")
    guard let entry = text.value(of: name.stringValue, in: object, depth: depth) else { throw missing(name) }
    return JSONTapeDecoder(text, entry, depth: depth + 1)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func find(_ key: Key) -> JSONTapeDecoder? {
    text.value(of: key.stringValue, in: object, depth: depth).map { JSONTapeDecoder(text, $0, depth: depth + 1) }
  }

  private func member(_ key: Key) throws -> JSONTapeDecoder {
    guard let value = find(key) else { throw missing(key) }
    return value
  }

  private func missing(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }
}
