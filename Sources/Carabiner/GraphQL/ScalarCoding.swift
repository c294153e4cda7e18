/// Converts a custom scalar whose type in Swift differs from its JSON form.
///
/// ```swift
/// struct Cents: ScalarCoding {
///   let amount: Int
///   static func value(of coded: Cents) -> Decimal { Decimal(coded.amount) / 100 }
///   …
/// }
/// ```
public protocol ScalarCoding: GraphQLValue {
  /// The type that properties have.
  associatedtype Value: Sendable, Hashable

  /// Converts the JSON form to the value of a property.
  static func value(of coded: Self) -> Value
  /// Converts the value of a property to the JSON form.
  static func coded(_ value: Value) -> Self
}

extension Optional: ScalarCoding where Wrapped: ScalarCoding {
  public static func value(of coded: Wrapped?) -> Wrapped.Value? { coded.map(Wrapped.value) }

  public static func coded(_ value: Wrapped.Value?) -> Wrapped? { value.map(Wrapped.coded) }
}

extension Array: ScalarCoding where Element: ScalarCoding {
  public static func value(of coded: [Element]) -> [Element.Value] { coded.map(Element.value) }

  public static func coded(_ value: [Element.Value]) -> [Element] { value.map(Element.coded) }
}

extension GraphQLNullable: ScalarCoding where Wrapped: ScalarCoding {
  public static func value(of coded: GraphQLNullable<Wrapped>) -> GraphQLNullable<Wrapped.Value> {
    switch coded {
    case .none: .none
    case .null: .null
    case .some(let value): .some(Wrapped.value(of: value))
    }
  }

  public static func coded(_ value: GraphQLNullable<Wrapped.Value>) -> GraphQLNullable<Wrapped> {
    switch value {
    case .none: .none
    case .null: .null
    case .some(let value): .some(Wrapped.coded(value))
    }
  }
}
