public import CarabinerWire

/// Checks the values of variables against their types, by section 6.1.2 of the specification.
///
/// The time is linear in the size of the values. Default values are not checked here: they are part of the document, and
/// ``DocumentValidator`` checks them.
public struct VariableValidator: Sendable {
  /// The schema with the types.
  public let schema: Schema
  /// Whether messages suggest names. Suggestions show a client parts of the schema.
  public var suggestsNames = true
  /// The maximum number of problems. Validation ends when it is reached.
  public var maximumProblems = DocumentValidator.defaultMaximumProblems

  /// Creates a validator for a schema.
  public init(schema: Schema) { self.schema = schema }

  /// The problems of the variables of a request; empty if they are valid. Variables that the operation does not declare are ignored.
  ///
  /// - Parameters:
  ///   - variables: The values, by the names of the variables. A gateway has them as a tree, because it forwards them.
  ///   - operation: The operation that is executed.
  ///   - uploads: The places of files, as a map of the GraphQL multipart request specification names them: `variables.files.0`. The values
  ///     there are null until the server sets them.
  public func problems(
    in variables: JSONObject, of operation: GraphQLDocument.OperationDefinition, uploads: Set<String> = []
  ) -> [VariableProblem] {
    var check = VariableCheck(self, uploads: uploads)
    for definition in operation.variables { check.check(definition, in: variables) }
    return check.problems
  }
}
