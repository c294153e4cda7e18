package import CarabinerWire
internal import FoundationEssentials

extension JSONValue {
  /// A value as JSON, with null for each member that is nil. Synthesized conformances leave such members out.
  package init(withNullsOf value: some Encodable) throws {
    try self.init(parsing: [UInt8](try JSONEncoder().encode(ExplicitNulls(value))))
  }
}

/// Encodes a value through encoders that write null for each member that is nil.
private struct ExplicitNulls<Value: Encodable>: Encodable {
  let value: Value

  init(_ value: Value) { self.value = value }

  func encode(to encoder: any Encoder) throws { try value.encode(to: NullEncoder(base: encoder)) }
}

private struct NullEncoder: Encoder {
  let base: any Encoder

  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NullKeyedContainer(base: base.container(keyedBy: type)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { NullUnkeyedContainer(base: base.unkeyedContainer()) }

  func singleValueContainer() -> any SingleValueEncodingContainer { NullSingleContainer(base: base.singleValueContainer()) }
}

extension Encodable {
  fileprivate var withNulls: any Encodable {
    switch self {
    // Values without members. The encoder has forms of its own for the first four.
    case is Date, is Data, is URL, is Decimal, is String, is Bool, is any BinaryInteger, is any BinaryFloatingPoint: self
    default: ExplicitNulls(self)
    }
  }
}

private struct NullKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var base: KeyedEncodingContainer<Key>

  var codingPath: [any CodingKey] { base.codingPath }

  mutating func encodeNil(forKey key: Key) throws { try base.encodeNil(forKey: key) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try base.encode(value.withNulls, forKey: key)
  }

  private mutating func encodeOrNil<Value: Encodable>(_ value: Value?, _ key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try encodeOrNil(value, key) }

  // The protocol has a default for each of these types, which would be used instead of the generic function.

  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNil(value, key) }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNil(value, key) }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(NullKeyedContainer<Nested>(base: base.nestedContainer(keyedBy: type, forKey: key)))
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    NullUnkeyedContainer(base: base.nestedUnkeyedContainer(forKey: key))
  }

  mutating func superEncoder() -> any Encoder { NullEncoder(base: base.superEncoder()) }

  mutating func superEncoder(forKey key: Key) -> any Encoder { NullEncoder(base: base.superEncoder(forKey: key)) }
}

private struct NullUnkeyedContainer: UnkeyedEncodingContainer {
  var base: any UnkeyedEncodingContainer

  var codingPath: [any CodingKey] { base.codingPath }
  var count: Int { base.count }

  mutating func encodeNil() throws { try base.encodeNil() }

  mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(value.withNulls) }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(NullKeyedContainer<Nested>(base: base.nestedContainer(keyedBy: type)))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    NullUnkeyedContainer(base: base.nestedUnkeyedContainer())
  }

  mutating func superEncoder() -> any Encoder { NullEncoder(base: base.superEncoder()) }
}

private struct NullSingleContainer: SingleValueEncodingContainer {
  var base: any SingleValueEncodingContainer

  var codingPath: [any CodingKey] { base.codingPath }

  mutating func encodeNil() throws { try base.encodeNil() }

  mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(value.withNulls) }
}
