extension GraphQLDocument {
  /// A name and a value: an argument, or a field of an input object.
  public struct Argument: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: Value

    /// Creates an argument.
    public init(name: String, value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// A value in a document.
  public enum Value: Sendable, Hashable {
    /// A variable, by its name without the dollar sign.
    case variable(String)
    /// An integer, with its original digits.
    case int(JSONNumber)
    /// A number with a fraction or an exponent, with its original digits.
    case float(JSONNumber)
    /// A string or block string.
    case string(String)
    /// A Boolean.
    case boolean(Bool)
    /// Null.
    case null
    /// A value of an enumeration.
    case enumeration(String)
    /// Values in order.
    case list([Value])
    /// Values by name, in order. Repeated names are not checked.
    case object([Argument])
  }
}

extension GraphQLDocument.Value {
  /// The value as JSON, with variables replaced.
  ///
  /// - Parameter variables: The values of the operation's variables.
  /// - Returns: nil for a variable without a value. In a list such a variable is null; in an object its field is left out.
  public func resolved(with variables: JSONObject) -> JSONValue? {
    switch self {
    case .variable(let name): variables[name]
    case .int(let number), .float(let number): .number(number)
    case .string(let text), .enumeration(let text): .string(text)
    case .boolean(let value): .bool(value)
    case .null: .null
    case .list(let elements): .array(elements.map { $0.resolved(with: variables) ?? .null })
    case .object(let fields):
      .object(
        JSONObject(
          fields.compactMap { field in
            field.value.resolved(with: variables).map { (key: field.name, value: $0) }
          }))
    }
  }
}
