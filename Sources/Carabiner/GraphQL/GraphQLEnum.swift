/// A value of an enumeration that a server may extend.
///
/// A value that the client does not know is ``unknown(_:)`` and does not fail the result. Use it in the data of hand-written operations:
///
/// ```swift
/// enum Episode: String { case newHope = "NEW_HOPE", empire = "EMPIRE" }
/// struct Hero: Codable { let appearsIn: [GraphQLEnum<Episode>] }
/// ```
public enum GraphQLEnum<Value: RawRepresentable & Sendable>: Sendable where Value.RawValue == String {
  /// A value that the client knows.
  case `case`(Value)
  /// The name of a value that the client does not know.
  case unknown(String)

  /// A known value.
  public init(_ value: Value) { self = .case(value) }

  /// The value with this name.
  public init(rawValue: String) { self = Value(rawValue: rawValue).map { .case($0) } ?? .unknown(rawValue) }

  /// The name of the value in the schema.
  public var rawValue: String {
    switch self {
    case .case(let value): value.rawValue
    case .unknown(let name): name
    }
  }

  /// The value; nil if the client does not know it.
  public var value: Value? {
    if case .case(let value) = self { value } else { nil }
  }
}

extension GraphQLEnum: RawRepresentable, Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// Whether this is the given value.
  public static func == (left: Self, right: Value) -> Bool { left.rawValue == right.rawValue }

  /// Whether this is not the given value.
  public static func != (left: Self, right: Value) -> Bool { left.rawValue != right.rawValue }

  /// Matches a known value in a `switch`.
  public static func ~= (pattern: Value, value: Self) -> Bool { value == pattern }

  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension GraphQLEnum: Codable {
  public init(from decoder: any Decoder) throws { self.init(rawValue: try String(from: decoder)) }

  public func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }
}

extension GraphQLEnum: CustomStringConvertible {
  public var description: String { rawValue }
}
