/// A JSON value. Numbers keep their digits, and objects keep the order of their members.
public enum JSONValue: Sendable {
  /// Null.
  case null
  /// A Boolean.
  case bool(Bool)
  /// A number, with its original digits.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Values by name.
  case object(JSONObject)
}

extension JSONValue {
  /// Whether this is null.
  public var isNull: Bool { if case .null = self { true } else { false } }
  /// The string, if this is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The Boolean, if this is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The number, if this is one.
  public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
  /// The number as an integer, if it is one and fits.
  public var int: Int? { number?.int }
  /// The number as a floating-point value, if this is one.
  public var double: Double? { number?.double }
  /// The elements, if this is an array.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The object, if this is one.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

  /// A member of an object; nil if there is none, or if this is not an object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// An element of an array; nil if there is none, or if this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// The name of this kind of value in messages.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSONValue: Hashable {
  /// Whether two values are equal. Strings are equal if their bytes are equal.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}
