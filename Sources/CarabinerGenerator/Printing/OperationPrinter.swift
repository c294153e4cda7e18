internal import CarabinerSchema
internal import CarabinerWire

/// Prints the type of an operation.
struct OperationPrinter {
  private let schema: Schema
  private let access: String
  var names: TypeNames
  private(set) var problems: [GeneratorProblem] = []

  init(schema: Schema, access: GeneratorConfiguration.Access, names: TypeNames) {
    self.schema = schema
    self.access = access == .internal ? "" : access.rawValue + " "
    self.names = names
  }

  /// Prints an operation. `data` prints the type of its data.
  mutating func print(
    _ operation: OperationNode, document: String, hash: String, to writer: inout CodeWriter,
    data: (inout TypeNames, inout CodeWriter) -> Void
  ) {
    let type = operation.definition.type
    let name = names.naming.operation(operation.name, type, isLocal: operation.isLocal)
    names.enter(["Data"])
    writer.documentation(operation.definition.description)
    writer.begin("\(access)struct \(name): GraphQL\(Words.capitalized(type.rawValue)), GeneratedOperation")
    writer.line("\(access)static let operationName = \(SwiftLiteral.string(operation.name))")
    writer.line("\(access)static let document = \(SwiftLiteral.rawString(document))")
    writer.line("\(access)static let documentHash = \(SwiftLiteral.string(hash))")
    writer.emptyLine()
    InputMember.print(variables(of: operation), access: access, parameter: "variables", to: &writer)
    writer.emptyLine()
    data(&names, &writer)
    writer.end()
    names.leave()
  }

  private mutating func variables(of operation: OperationNode) -> [InputMember] {
    var members: [InputMember] = []
    var known: Set<String> = []
    for variable in operation.definition.variables {
      guard let type = schema.reference(variable.type) else { continue }
      let property = names.naming.variable(variable.name, of: operation.name)
      if !SwiftNames.isIdentifier(property) || SwiftNames.reservedVariables.contains(property)
        || !known.insert(property).inserted
      {
        problems.append(
          operation.place(of: variable.name).problem(
            "the variable $\(variable.name) cannot be a property named \(property); rename it with the key renames: {\(operation.name).$\(variable.name): NAME}"
          ))
      }
      var member = InputMember(
        key: variable.name, property: property, type: type, hasDefault: variable.defaultValue != nil, names: &names)
      member.description = variable.description
      members.append(member)
    }
    return members
  }
}
