internal import CarabinerWire

/// A mock whose fields can be read.
protocol ReadableMock: AnyMock {
  static var typeName: String { get }

  init()

  /// The value of a field; nil if none of its type is known.
  func json(of name: String, _ values: MockValues) throws -> JSONValue?
}

/// A field of a mock, without the type of its value.
protocol ReadableField {
  var name: String { get }

  /// The JSON of a value that was set; nil if the value does not have the type of the field.
  func json(of value: Any?, _ values: MockValues) throws -> JSONValue?

  /// The JSON of a field that was not set; nil if no value of its type is known.
  func example(_ values: MockValues) throws -> JSONValue?
}

/// The values of mocks, for generated types that read them as a response.
///
/// The text of an object contains only its number. Each member is created when it is read, so mocks may refer to each other in
/// circles.
final class MockValues: AbsentMembers {
  /// The member with the number of an object.
  static let mark: StaticString = "__mock"
  /// Values for types that the schema does not define: one of them fits most scalars.
  private static let scalars: [JSONValue] = [
    "https://example.com/", "2000-01-01T00:00:00Z", "2000-01-01", "00000000-0000-4000-8000-000000000000", 1, true, "1", "AAAA",
    [],
    [:],
  ]

  let includesConditional: Bool
  private var mocks: [any ReadableMock] = []
  /// The field that was read last, for error messages.
  private(set) var lastField = ""

  init(includesConditional: Bool) { self.includesConditional = includesConditional }

  func decoder(of value: JSONValue) throws -> JSONTapeDecoder {
    try JSONTapeDecoder(reading: value.serialized()).taking(self)
  }

  func member(_ name: String, of object: JSONTapeDecoder) throws -> JSONTapeDecoder {
    guard let number = try object.member(Self.mark).map(Int.init(reading:)), mocks.indices.contains(number) else {
      throw MockError("the field \(lastField) is not an object; generate the mocks again")
    }
    lastField = "\(type(of: mocks[number]).typeName).\(name)"
    guard let value = try mocks[number].json(of: name, self) else {
      throw MockError("no value of the type of \(lastField) is known; set the field of the mock")
    }
    return try decoder(of: value)
  }

  // MARK: Values

  func json(of value: Any) throws -> JSONValue? {
    switch value {
    case let mock as any ReadableMock:
      mocks.append(mock)
      return ["__typename": .string(type(of: mock).typeName), Self.mark.description: .number(JSONNumber(mocks.count - 1))]
    case let value as any WrappingValue: return try value.json { try json(of: $0) ?? .null }
    case let value as any GraphQLValue: return Self.json(value) ?? .null
    default: return nil
    }
  }

  private static func json<Value: GraphQLValue>(_ value: Value) -> JSONValue? { Value.json(of: value) }

  /// A value of a type; nil if none is known.
  func example(of type: Any.Type, _ name: String) throws -> JSONValue? {
    switch type {
    case let type as any WrappingValue.Type:
      return try example(of: type.wrapped, name).map { type.isList ? [$0] : $0 }
    case is String.Type: return .string(name)
    case let type as any ReadableMock.Type: return try json(of: type.init())
    case let type as any KnownValues.Type: return type.firstName.map { .string($0) }
    case let type as any ResponseValue.Type: return Self.scalars.first { (try? read(type, $0)) != nil }
    default: return nil
    }
  }

  private func read<Value: ResponseValue>(_ type: Value.Type, _ value: JSONValue) throws -> Value {
    try Value.value(reading: ValueReader(decoder(of: value)))
  }
}

// MARK: Types

/// A list or an optional.
private protocol WrappingValue {
  static var wrapped: Any.Type { get }
  static var isList: Bool { get }

  func json(_ inner: (Any) throws -> JSONValue) rethrows -> JSONValue
}

extension Array: WrappingValue {
  fileprivate static var wrapped: Any.Type { Element.self }
  fileprivate static var isList: Bool { true }

  fileprivate func json(_ inner: (Any) throws -> JSONValue) rethrows -> JSONValue { .array(try map(inner)) }
}

extension Optional: WrappingValue {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
  fileprivate static var isList: Bool { false }

  fileprivate func json(_ inner: (Any) throws -> JSONValue) rethrows -> JSONValue { try map(inner) ?? .null }
}

/// An enumeration with a list of its values.
private protocol KnownValues {
  static var firstName: String? { get }
}

extension GraphQLEnum: KnownValues where Value: CaseIterable {
  fileprivate static var firstName: String? { Value.allCases.first?.rawValue }
}
