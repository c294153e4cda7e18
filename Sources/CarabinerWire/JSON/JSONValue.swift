/// A JSON value. Numbers keep the digits they were written with, objects the order of their members.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  /// Whether this is null.
  public var isNull: Bool { self == .null }
  /// The string, if this is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The truth value, if this is one.
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

  /// A member of an object; nil if there is none or this is no object.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// An element of an array; nil if there is none or this is no array.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// What messages call a value of this kind.
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

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
  }
}

/// A JSON number as it was written; two are equal if they were written alike.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
  /// The digits, as they stand in the text.
  public let lexeme: String

  /// An integer.
  public init(_ value: Int) { lexeme = String(value) }

  /// A floating-point value; nil for NaN and infinities, which JSON cannot say.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    lexeme = value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
  }

  /// A number written like this; nil if it is none.
  public init?(lexeme: String) {
    guard case .number? = try? JSONValue(parsing: lexeme), let first = lexeme.utf8.first, first > 0x20 else { return nil }
    guard lexeme.utf8.last.map({ $0 > 0x20 }) == true else { return nil }
    self.lexeme = lexeme
  }

  init(checked lexeme: String) { self.lexeme = lexeme }

  /// The number as an integer, if it is one and fits.
  public var int: Int? {
    if let value = Int(lexeme) { return value }
    guard let value = Double(lexeme), value == value.rounded(), abs(value) <= 9_007_199_254_740_992 else { return nil }
    return Int(value)
  }

  /// The nearest floating-point value; infinite if the number is too large for one.
  public var double: Double { Double(lexeme) ?? .nan }

  public var description: String { lexeme }
}
