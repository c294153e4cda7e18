public import CarabinerWire

/// An argument that may be left out, null, or a value. These are three different things for a server.
///
/// ```swift
/// HeroQuery(episode: .some(.case(.jedi)))
/// HeroQuery(episode: .null)
/// HeroQuery(episode: .none)
/// ```
@dynamicMemberLookup
public enum GraphQLNullable<Wrapped: Sendable & Hashable>: Sendable, Hashable {
  /// The argument is not sent, and a default value of the schema applies.
  case none
  /// The argument is sent as null.
  case null
  /// The argument is sent with a value.
  case some(Wrapped)

  /// An argument with a value.
  public init(_ value: Wrapped) { self = .some(value) }

  /// The value; nil if there is none.
  public var unwrapped: Wrapped? { if case .some(let value) = self { value } else { nil } }

  /// A part of the value; nil if there is no value.
  public subscript<Part>(dynamicMember path: KeyPath<Wrapped, Part>) -> Part? { unwrapped?[keyPath: path] }
}

extension GraphQLNullable: GraphQLValue where Wrapped: GraphQLValue {
  public static func json(of value: GraphQLNullable<Wrapped>) -> JSONValue? {
    switch value {
    case .none: nil
    case .null: .null
    case .some(let value): Wrapped.json(of: value)
    }
  }
}

extension GraphQLNullable: ExpressibleByNilLiteral {
  /// `nil` is ``none``.
  public init(nilLiteral: ()) { self = .none }
}

extension GraphQLNullable {
  /// An argument with a known value of an enumeration.
  public init<Value: RawRepresentable & Sendable>(_ value: Value) where Wrapped == GraphQLEnum<Value>, Value.RawValue == String {
    self = .some(.case(value))
  }
}

/// An argument with the value, or the other argument if the value is nil.
///
/// It is disfavoured: `Int(text) ?? 0` is an `Int` wherever it can be one.
@_disfavoredOverload
public func ?? <Wrapped>(value: Wrapped?, other: @autoclosure () -> GraphQLNullable<Wrapped>) -> GraphQLNullable<Wrapped> {
  value.map { .some($0) } ?? other()
}
