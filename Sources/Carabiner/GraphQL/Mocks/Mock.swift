/// An object of a GraphQL schema for tests, from which generated types read any selection.
///
/// Set the fields that a test is about. The others have stable values: see ``SelectionSet/from(_:withConditional:)``.
///
/// ```swift
/// let book = Mock<Book>(title: "Solaris")
/// book.author = Mock<Person>(name: "Lem")
/// let data = try BookQuery.Data.from(Mock<Query>(book: book))
/// ```
@dynamicMemberLookup
public final class Mock<Object: MockObject>: AnyMock {
  /// The values that are set, by response key. Nil is null.
  private var values: [String: Any?]

  /// Creates an object without values.
  public init() { values = [:] }

  /// Creates an object. Nil is for a field that is not set. Generated code calls it.
  public init(__values: [String: Any?]) { values = __values.filter { $0.value != nil } }

  /// The value of a field; nil if it is not set or null. Setting it to nil makes it null.
  public subscript<Value>(dynamicMember path: KeyPath<Object, MockField<Value>>) -> Value? {
    get { values[Object()[keyPath: path].name].flatMap { $0 } as? Value }
    set { values.updateValue(newValue, forKey: Object()[keyPath: path].name) }
  }
}

/// An object of an interface or a union for tests: a ``Mock`` of one of its types.
public protocol AnyMock: AnyObject {}

/// An object type of a schema, with the fields that documents select as its properties. Generated types conform to it.
public protocol MockObject {
  /// The name of the type in the schema.
  static var typeName: String { get }

  /// Creates the type.
  init()
}

/// A field of an object type. Generated types have it as properties.
public struct MockField<Value> {
  let name: String
  /// The type that reads the JSON form.
  private let coding: Any.Type
  private let coded: (Value) -> Any
  private let example: (() -> Value)?

  /// A field whose type in Swift reads its own JSON form.
  public init(_ name: String) {
    self.name = name
    (coding, coded, example) = (Value.self, { $0 }, nil)
  }

  /// A field with a default value for mocks that do not set it.
  public init(_ name: String, example: @escaping @autoclosure () -> Value) {
    self.name = name
    (coding, coded, self.example) = (Value.self, { $0 }, example)
  }

  /// A field of a custom scalar whose type in Swift differs from its JSON form.
  public init<Coding: ScalarCoding>(_ name: String, as coding: Coding.Type) where Coding.Value == Value {
    self.name = name
    (self.coding, coded, example) = (coding, Coding.coded, nil)
  }
}

extension MockField: ReadableField {
  func json(of value: Any?, _ values: MockValues) throws -> JSONValue? {
    if let value = value as? Value { return try values.json(of: coded(value)) }
    return value == nil ? .null : nil
  }

  func example(_ values: MockValues) throws -> JSONValue? {
    if let example { return try values.json(of: example()) }
    return try values.example(of: coding, name)
  }
}

extension Mock: ReadableMock {
  static var typeName: String { Object.typeName }

  func json(of name: String, _ reader: MockValues) throws -> JSONValue? {
    for (_, field) in Mirror(reflecting: Object()).children {
      guard let field = field as? any ReadableField, field.name == name else { continue }
      if let value = values[name] { return try field.json(of: value, reader) }
      return try field.example(reader)
    }
    throw MockError(
      "\(Object.typeName) has no field \(name) in its mock; give a mock of the type that the selection is on, or generate the mocks again"
    )
  }
}
