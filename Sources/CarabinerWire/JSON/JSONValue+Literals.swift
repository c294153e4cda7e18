extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A number.
  public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
  /// A number; null if the literal is too large for a `Double`.
  public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object. If a name is repeated, the last value is used.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.lazy.map { (key: $0.0, value: $0.1) }))
  }
}
