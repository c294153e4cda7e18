internal import CarabinerSchema
internal import CarabinerWire

extension InputCoercion {
  typealias TypeReference = GraphQLDocument.TypeReference

  /// The value of a literal in the document.
  ///
  /// - Returns: nil for a variable without a value.
  func coerced(
    literal: GraphQLDocument.Value, to type: TypeReference, hasDefault: Bool = false, variables: OperationVariables
  ) throws(CoercionFault) -> JSONValue? {
    if case .variable(let name) = literal {
      return try variables.value(of: name, for: type, hasDefault: hasDefault)
    }
    switch type {
    case .nonNull(let inner):
      guard literal != .null else { throw CoercionFault("null is not of type \(type)") }
      return try coerced(literal: literal, to: inner, variables: variables)
    case _ where literal == .null: return .null
    case .list(let element):
      guard case .list(let items) = literal else {
        return try coerced(literal: literal, to: element, variables: variables).map { .array([$0]) }
      }
      var result: [JSONValue] = []
      for item in items { result.append(try coerced(literal: item, to: element, variables: variables) ?? .null) }
      return .array(result)
    case .named(let name):
      if let fields = inputFields(of: name) {
        guard case .object(let members) = literal else {
          throw CoercionFault("\(Self.short(literal.description)) is not of type \(name)")
        }
        return try coerced(members.map { (key: $0.name, value: $0.value) }, to: fields, of: name) {
          (value, type) throws(CoercionFault) in
          try coerced(literal: value, to: type, variables: variables)
        }
      }
      guard let value = Self.leaf(literal, isEnumeration: isEnumeration(name)) else {
        throw CoercionFault("\(Self.short(literal.description)) is not of type \(name)")
      }
      // A number with a fraction or an exponent is a float in a document, even if its value is an integer.
      if case .float = literal, name != "Float" {
        throw CoercionFault("\(Self.short(literal.description)) is not of type \(name)")
      }
      return try coerced(value, to: type)
    }
  }

  private func isEnumeration(_ name: String) -> Bool { schema.type(named: name)?.kind == .enumeration }

  private static func leaf(_ literal: GraphQLDocument.Value, isEnumeration: Bool) -> JSONValue? {
    switch literal {
    case .int(let number), .float(let number): .number(number)
    case .string(let text): isEnumeration ? nil : .string(text)
    case .enumeration(let text): isEnumeration ? .string(text) : nil
    case .boolean(let value): .bool(value)
    case .null, .variable, .list, .object: nil
    }
  }
}
