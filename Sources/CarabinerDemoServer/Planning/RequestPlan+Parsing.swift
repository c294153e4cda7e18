internal import CarabinerSchema
internal import CarabinerWire

extension RequestPlan {
  /// Parses a document and checks the selected operation against the schema.
  ///
  /// - Throws: ``RequestProblems`` with all problems.
  init(
    document text: String, operationName: String?, variables: JSONObject, schema: Schema = .library,
    limits: RequestLimits = RequestLimits()
  ) throws(RequestProblems) {
    let document: GraphQLDocument
    let places: GraphQLPlaces
    do {
      // Values have brackets too, so the text may be nested deeper than its selections.
      (document, places) = try GraphQLDocument.parsingWithPlaces(text, limits: GraphQLLimits(maximumDepth: 64))
    } catch {
      let place = GraphQLPlaces.Place(line: error.line, column: error.column)
      throw RequestProblems(
        problems: [GraphQLProblem(message: "syntax error: \(error.message)", locations: [place], code: "GRAPHQL_PARSE_FAILED")])
    }
    var planner = Planner(document: document, places: places, schema: schema, limits: limits)
    self = try planner.plan(operationName: operationName, variables: variables)
  }
}
