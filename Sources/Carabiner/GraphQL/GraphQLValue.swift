public import CarabinerWire

/// A value that generated code reads and writes: a scalar, an enumeration, an object, an input object or a list.
///
/// Conform a type to it to use it for a custom scalar.
public protocol GraphQLValue: Sendable, Hashable {
  /// The value as JSON; nil for a variable or an input field that is not given.
  ///
  /// It is static, so that its name cannot clash with a field of an object.
  static func json(of value: Self) -> JSONValue?
}

extension String: GraphQLValue {
  public static func json(of value: String) -> JSONValue? { .string(value) }
}

extension Bool: GraphQLValue {
  public static func json(of value: Bool) -> JSONValue? { .bool(value) }
}

extension Int: GraphQLValue {
  public static func json(of value: Int) -> JSONValue? { .number(JSONNumber(value)) }
}

extension Double: GraphQLValue {
  /// NaN and infinities are null, because JSON has no such numbers.
  public static func json(of value: Double) -> JSONValue? { JSONNumber(value).map { .number($0) } ?? .null }
}

extension JSONValue: GraphQLValue {
  public static func json(of value: JSONValue) -> JSONValue? { value }
}

extension Optional: GraphQLValue where Wrapped: GraphQLValue {
  public static func json(of value: Wrapped?) -> JSONValue? { value.flatMap(Wrapped.json) }
}

extension Array: GraphQLValue where Element: GraphQLValue {
  /// An element that is not given is null.
  public static func json(of value: [Element]) -> JSONValue? { .array(value.map { Element.json(of: $0) ?? .null }) }
}

extension GraphQLEnum: GraphQLValue {
  public static func json(of value: GraphQLEnum<Value>) -> JSONValue? { .string(value.rawValue) }
}
