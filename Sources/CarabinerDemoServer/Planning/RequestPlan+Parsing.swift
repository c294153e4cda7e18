internal import CarabinerWire

extension RequestPlan {
  /// Reads a document and checks the operation that is meant against the schema.
  ///
  /// - Throws: ``RequestProblems`` with everything that was found wrong.
  init(
    document text: String, operationName: String?, variables: JSONObject, schema: Schema = .library,
    limits: RequestLimits = RequestLimits()
  ) throws(RequestProblems) {
    let document: GraphQLDocument
    let places: GraphQLPlaces
    do {
      // Brackets are nested in values too, so the text may be deeper than its selections.
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
