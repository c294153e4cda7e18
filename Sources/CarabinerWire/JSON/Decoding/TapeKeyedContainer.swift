/// The members of an object.
struct TapeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let text: TapeText
  let object: Int32
  let depth: Int32

  var codingPath: [any CodingKey] { text.path(to: object) }
  var allKeys: [Key] { text.names(of: object).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { text.isNull(try place(key)) }

  func decode<Value: TapeScalar>(_ type: Value.Type, forKey key: Key) throws -> Value { try Value(reading: member(key)) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).decode(type) }

  func decodeIfPresent<Value: TapeScalar>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = present(key) else { return nil }
    return try Value(reading: value)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = present(key) else { return nil }
    return try value.decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }

  func superDecoder() throws -> any Decoder {
    let name = TapeKey(stringValue: "super")
    guard let entry = text.value(of: name.stringValue, in: object, depth: depth) else { throw text.missing(name, in: object) }
    return JSONTapeDecoder(text, entry, depth: depth + 1)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func find(_ key: Key) -> Int32? { text.value(of: key.stringValue, in: object, depth: depth) }

  private func present(_ key: Key) -> JSONTapeDecoder? {
    guard let entry = find(key), !text.isNull(entry) else { return nil }
    return JSONTapeDecoder(text, entry, depth: depth + 1)
  }

  @inline(__always) private func place(_ key: Key) throws -> Int32 {
    guard let entry = find(key) else { throw text.missing(key, in: object) }
    return entry
  }

  @inline(__always) private func member(_ key: Key) throws -> JSONTapeDecoder {
    JSONTapeDecoder(text, try place(key), depth: depth + 1)
  }
}
