internal import CarabinerWire

/// Checks a schema by the rules of section 3 of the specification.
struct SchemaValidator {
  let schema: Schema
  private(set) var problems: [SchemaProblem]
  private let maximumProblems: Int
  /// The required fields of input objects and arguments of directives.
  var requiredNames = RequiredNames()

  init(_ schema: Schema, limits: SchemaLimits) {
    self.schema = schema
    maximumProblems = limits.maximumProblems
    problems = Array(schema.storage.problems.prefix(maximumProblems))
  }

  /// Whether no more problems are reported.
  var isFull: Bool { problems.count >= maximumProblems }

  mutating func report(_ rule: SchemaProblem.Rule, _ coordinate: String, _ message: String, at location: Schema.Location?) {
    if !isFull { problems.append(SchemaProblem(rule, coordinate, message, at: location)) }
  }

  mutating func run() {
    checkRootTypes()
    check(schema.appliedDirectives, on: .schema, of: "", at: schema.storage.location)
    for directive in schema.directives where !isFull { check(directive) }
    for type in schema.types where !isFull { check(type) }
    if isFull { return }
    checkInterfaceCycles()
    checkInputObjectCycles()
    checkDefaultValueCycles()
    checkDirectiveCycles()
  }

  private mutating func checkRootTypes() {
    if schema.rootTypeName(of: .query) == nil {
      report(
        .rootTypes, "", "the schema has no root type for queries; define a type Query, or name one in schema { query: … }",
        at: schema.storage.location)
    }
    var operations: [String: Schema.OperationType] = [:]
    for operation in Schema.OperationType.allCases {
      guard let reference = schema.storage.rootTypes[operation] else { continue }
      guard let type = known(reference, in: "the root type for the operation \(operation.rawValue)", "") else { continue }
      if type.kind != .object {
        report(
          .rootTypes, type.name,
          "the root type \(type.name) of the operation \(operation.rawValue) is defined as \(type.kind.word); define it as type",
          at: reference.location)
      }
      if let other = operations.updateValue(operation, forKey: type.name) {
        report(
          .rootTypes, type.name,
          "\(type.name) is the root type of the operations \(other.rawValue) and \(operation.rawValue); use a type for each",
          at: reference.location)
      }
    }
  }

  private mutating func check(_ directive: Schema.DirectiveDefinition) {
    let coordinate = "@\(directive.name)"
    checkName(directive.name, coordinate, at: directive.location)
    if directive.locations.isEmpty {
      report(
        .knownDirectiveLocations, coordinate, "\(coordinate) has no location; add one, such as on FIELD_DEFINITION",
        at: directive.location)
    }
    for argument in directive.arguments { check(argument, "\(coordinate)(\(argument.name):)", on: .argumentDefinition) }
  }

  // MARK: Parts of all definitions

  mutating func checkName(_ name: String, _ coordinate: String, at location: Schema.Location?) {
    guard name.hasPrefix("__") else { return }
    report(
      .reservedNames, coordinate, "the name \(name) begins with two underscores, which are reserved for introspection; rename it",
      at: location)
  }

  /// The type of a reference. If it is not defined, that is reported.
  mutating func known(
    _ reference: Schema.TypeReference, in owner: @autoclosure () -> String, _ coordinate: @autoclosure () -> String
  ) -> Schema.NamedType? {
    if let type = schema.type(of: reference) { return type }
    report(
      .knownTypeNames, coordinate(), "the type \(reference.name) of \(owner()) is not defined; define it, or correct the name",
      at: reference.location)
    return nil
  }

  /// Checks an argument, or a field of an input object.
  mutating func check(_ input: Schema.InputValue, _ coordinate: @autoclosure () -> String, on location: Schema.DirectiveLocation)
  {
    if input.name.hasPrefix("__") { checkName(input.name, coordinate(), at: input.location) }
    if let type = known(input.type, in: coordinate(), coordinate()) {
      if !type.isInput {
        report(
          .inputTypes, coordinate(),
          "\(coordinate()) has the type \(type.name), defined as \(type.kind.word); use a scalar, an enum or an input",
          at: input.type.location ?? input.location)
      } else if let value = input.defaultValue, let fault = fault(of: value, for: input.type) {
        report(
          .defaultValues, coordinate(), "the default value of \(coordinate()) is not valid: \(fault); correct or remove it",
          at: input.location)
      }
    }
    if input.isRequired, input.deprecationReason != nil {
      report(
        .requiredDeprecated, coordinate(),
        "\(coordinate()) is required and deprecated; make it optional, or remove @deprecated", at: input.location)
    }
    if input.appliedDirectives.isEmpty { return }
    check(
      input.appliedDirectives, on: location, of: coordinate(), at: input.location,
      isDeprecated: input.deprecationReason != nil)
  }
}

extension Schema {
  /// Checks the schema by all rules of section 3 of the specification.
  ///
  /// The time is linear in the size of the schema, but for interfaces: each type is compared with each of its interfaces.
  ///
  /// - Returns: The problems, those that reading found first; empty if the schema is valid. The limit of problems ends validation.
  public func validate(limits: SchemaLimits = SchemaLimits()) -> [SchemaProblem] {
    var validator = SchemaValidator(self, limits: limits)
    validator.run()
    return validator.problems
  }
}
