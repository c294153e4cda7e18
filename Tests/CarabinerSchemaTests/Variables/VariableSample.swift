import CarabinerSchema
import CarabinerWire

/// A schema with types for variables.
enum VariableSample {
  static let schema = """
    type Query { a: Int }
    enum Genre { NOVEL HORROR ESSAY }
    scalar Date
    input Filter {
      title: String! genres: [Genre!] limit: Int! = 10 rating: Float ids: [ID!] inner: Filter pick: Pick matrix: [[Int!]] on: Date
      flag: Boolean tags: [String]! = []
    }
    input Pick @oneOf { id: ID title: String range: Range }
    input Range { low: Int! high: Int! }
    """

  /// The problems of variables, given as JSON, of an operation with these declarations.
  static func problems(
    _ declarations: String, _ variables: String, uploads: Set<String> = [], _ change: (inout VariableValidator) -> Void = { _ in }
  ) throws -> [VariableProblem] {
    var validator = VariableValidator(schema: try Schema(parsing: schema))
    change(&validator)
    let document = try GraphQLDocument(parsing: "query (\(declarations)) { a }")
    return try validator.problems(
      in: JSONValue(parsing: variables).object ?? [:], of: document.operations[0], uploads: uploads)
  }
}
