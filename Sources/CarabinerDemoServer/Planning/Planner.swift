internal import CarabinerSchema
internal import CarabinerWire

/// Checks an operation against the schema and builds its plan.
struct Planner {
  let schema: Schema
  let limits: RequestLimits
  let document: GraphQLDocument
  private let places: GraphQLPlaces
  private let selectionSets: [[LocatedSelection]]
  /// The fragments by name, with the places of their selections.
  private(set) var fragments: [String: (definition: GraphQLDocument.FragmentDefinition, selections: [LocatedSelection])] = [:]
  var variables: OperationVariables?
  var problems: [GraphQLProblem] = []
  /// The fragments around the current selection, to detect cycles.
  var openFragments: [String] = []
  var fieldCount = 0
  var isDeferred = false
  var mayDefer = false

  /// The most problems in a response.
  private static let maximumProblems = 20

  init(document: GraphQLDocument, places: GraphQLPlaces, schema: Schema, limits: RequestLimits) {
    self.document = document
    self.places = places
    self.schema = schema
    self.limits = limits
    selectionSets = LocatedSelection.all(in: document, places)
    for (position, definition) in document.definitions.enumerated() {
      if case .fragment(let fragment) = definition, fragments[fragment.name] == nil {
        fragments[fragment.name] = (fragment, selectionSets[position])
      }
    }
  }

  /// The plan of the operation with this name, or of the only one.
  ///
  /// - Throws: ``RequestProblems`` with all problems.
  mutating func plan(operationName: String?, variables given: JSONObject) throws(RequestProblems) -> RequestPlan {
    checkNames()
    let (operation, position) = try chosenOperation(operationName)
    let variables = try OperationVariables(operation, values: given, schema: schema, place: places.definitions[position])
    self.variables = variables
    // Only queries can be deferred. Mutations and subscriptions return each result as a whole.
    mayDefer = operation.type == .query
    for directive in operation.directives {
      complain("the operation cannot have the directive @\(directive.name)", at: places.definitions[position])
    }
    let rootType = operation.type.defaultRootTypeName
    let selections = self.selections(selectionSets[position], of: rootType, depth: 1)
    if problems.isEmpty { checkConflicts(selections, of: rootType) }
    if operation.type == .subscription { checkSubscription(selections, at: places.definitions[position]) }
    guard problems.isEmpty else { throw RequestProblems(problems: problems) }
    return RequestPlan(type: operation.type, selections: selections, isDeferred: isDeferred)
  }

  /// Records a problem.
  mutating func complain(
    _ message: String, at place: GraphQLPlaces.Place, code: String = "GRAPHQL_VALIDATION_FAILED"
  ) {
    guard problems.count < Self.maximumProblems else { return }
    problems.append(GraphQLProblem(message: message, locations: [place], code: code))
  }

  private mutating func checkNames() {
    var names: Set<String> = []
    for (position, definition) in document.definitions.enumerated() {
      switch definition {
      case .operation(let operation):
        if operation.name == nil, document.operations.count > 1 {
          complain("an operation without a name must be the only one", at: places.definitions[position])
        } else if let name = operation.name, !names.insert("operation \(name)").inserted {
          complain("there are two operations of the name \(name.debugDescription)", at: places.definitions[position])
        }
      case .fragment(let fragment):
        if !names.insert("fragment \(fragment.name)").inserted {
          complain("there are two fragments of the name \(fragment.name.debugDescription)", at: places.definitions[position])
        }
      }
    }
  }

  private func chosenOperation(
    _ name: String?
  ) throws(RequestProblems) -> (GraphQLDocument.OperationDefinition, Int) {
    guard let chosen = document.operation(named: name),
      let position = document.definitions.firstIndex(where: { $0 == .operation(chosen) })
    else {
      let message =
        if let name { "the document has no operation of the name \(InputCoercion.short(name.debugDescription))" } else {
          document.operations.isEmpty
            ? "the document has no operation" : "the document has several operations; set operationName"
        }
      throw RequestProblems(
        problems: problems + [GraphQLProblem(message: message, code: "OPERATION_RESOLUTION_FAILURE")])
    }
    return (chosen, position)
  }

  private mutating func checkSubscription(_ selections: [PlannedSelection], at place: GraphQLPlaces.Place) {
    guard problems.isEmpty else { return }
    let fields = FieldGroups(selections, for: "Subscription", includingDeferred: true).fields
    if fields.count != 1 || fields.first?.first?.definition.name == "__typename" {
      complain("a subscription asks for exactly one field, and not for __typename", at: place)
    }
  }
}
