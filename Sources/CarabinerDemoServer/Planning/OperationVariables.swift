internal import CarabinerSchema
internal import CarabinerWire

/// The variables of an operation: its declarations, and the values of the request.
struct OperationVariables {
  private let definitions: [String: GraphQLDocument.VariableDefinition]
  private let values: JSONObject

  /// Checks the values of a request against the declarations of an operation.
  ///
  /// - Throws: ``RequestProblems`` with every variable that is not valid.
  init(
    _ operation: GraphQLDocument.OperationDefinition, values given: JSONObject, schema: Schema, place: GraphQLPlaces.Place
  ) throws(RequestProblems) {
    var problems: [GraphQLProblem] = []
    var definitions: [String: GraphQLDocument.VariableDefinition] = [:]
    var values = JSONObject()
    let coercion = InputCoercion(schema: schema)
    for definition in operation.variables {
      func complain(_ message: String) {
        problems.append(
          GraphQLProblem(message: "variable $\(definition.name): \(message)", locations: [place], code: "BAD_USER_INPUT"))
      }
      if definitions.updateValue(definition, forKey: definition.name) != nil {
        complain("it is declared twice")
        continue
      }
      if let type = schema.type(named: definition.type.innermostName) {
        if !type.isInput { complain("\(definition.type) is not an input type") }
      } else {
        complain("there is no type \(definition.type.innermostName.debugDescription)")
      }
      do {
        if let value = given[definition.name] {
          values[definition.name] = try coercion.coerced(value, to: definition.type)
        } else if let literal = definition.defaultValue {
          values[definition.name] = try coercion.coerced(literal: literal, to: definition.type, variables: OperationVariables())
        } else if definition.type.isNonNull {
          complain("it needs a value of type \(definition.type)")
        }
      } catch {
        complain(error.message)
      }
    }
    guard problems.isEmpty else { throw RequestProblems(problems: problems) }
    self.definitions = definitions
    self.values = values
  }

  /// No variables, for constant values.
  private init() {
    definitions = [:]
    values = [:]
  }

  /// The value of a variable at a position with an expected type; nil if the variable has no value.
  func value(
    of name: String, for type: GraphQLDocument.TypeReference, hasDefault: Bool
  ) throws(CoercionFault) -> JSONValue? {
    guard let definition = definitions[name] else { throw CoercionFault("the operation declares no variable $\(name)") }
    var expected = type
    // With a default on either side, the variable may be omitted. An explicit null is rejected below.
    if case .nonNull(let inner) = type, !definition.type.isNonNull, hasDefault || (definition.defaultValue ?? .null) != .null {
      expected = inner
    }
    guard Self.fits(definition.type, expected) else {
      throw CoercionFault("variable $\(name) is of type \(definition.type), and \(type) is expected")
    }
    if values[name]?.isNull == true, type.isNonNull { throw CoercionFault("variable $\(name) is null, and \(type) is expected") }
    return values[name]
  }

  private static func fits(_ type: GraphQLDocument.TypeReference, _ expected: GraphQLDocument.TypeReference) -> Bool {
    switch (type, expected) {
    case (.nonNull(let type), .nonNull(let expected)): fits(type, expected)
    case (.nonNull(let type), _): fits(type, expected)
    case (_, .nonNull): false
    case (.list(let type), .list(let expected)): fits(type, expected)
    case (.named(let type), .named(let expected)): type == expected
    case (.list, .named), (.named, .list): false
    }
  }
}
