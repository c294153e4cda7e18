/// The sizes and costs of the operations of a document.
///
/// Each definition is measured once, so the time is proportional to the text.
package struct DocumentMeasures: Sendable {
  /// A reason why a document cannot be measured. Such a document is not valid.
  package enum Fault: Error, Hashable {
    /// A fragment spreads itself, directly or over others.
    case cycle(String)
    case duplicateFragment(String)
  }

  /// An operation of the document.
  package struct Operation: Sendable {
    package let size: OperationSize
    package let cost: OperationCost
    /// The default values of its variables.
    let defaults: [String: GraphQLDocument.Value]
  }

  /// The operations, in order.
  package private(set) var operations: [Operation] = []
  /// The number of tokens; zero if it was not counted.
  package private(set) var tokens = 0
  private let parts: CostParts
  private let inputWeight: @Sendable (JSONValue, String) -> Double

  /// Measures a document with one price for all fields.
  ///
  /// - Parameter listArguments: The names of arguments that multiply the cost of the fields below.
  /// - Throws: ``Fault``.
  package init(_ document: GraphQLDocument, listArguments: [String]) throws(Fault) {
    try self.init(document, pricing: UniformPricing(listArguments: listArguments))
  }

  /// Parses and measures a document.
  ///
  /// - Throws: ``GraphQLSyntaxError`` or ``Fault``.
  package init(parsing text: String, limits: GraphQLLimits = GraphQLLimits(), pricing: some FieldPricing) throws {
    let (document, parser) = try GraphQLDocument.parsed(Array(text.utf8), limits: limits)
    try self.init(document, pricing: pricing)
    tokens = parser.tokens
  }

  /// Measures a document.
  ///
  /// - Throws: ``Fault``.
  package init(_ document: GraphQLDocument, pricing: some FieldPricing) throws(Fault) {
    var measurement = DocumentMeasurement(pricing)
    for fragment in try FragmentOrder(document.fragments).fragments { measurement.add(fragment) }
    operations = document.operations.map { operation in
      let (size, cost) = measurement.measure(operation)
      let defaults = operation.variables.compactMap { variable in variable.defaultValue.map { (variable.name, $0) } }
      return Operation(size: size, cost: cost, defaults: Dictionary(defaults) { first, _ in first })
    }
    parts = measurement.parts
    inputWeight = { pricing.weight(of: $0, as: $1) }
  }

  /// The cost of an operation, at most ``OperationSize/highest``.
  package func cost(of operation: Operation, variables: JSONObject) -> Int { costs(of: operation, variables: variables).highest }

  /// The costs of an operation, each at most ``OperationSize/highest``.
  package func costs(of operation: Operation, variables: JSONObject) -> OperationCosts {
    if operation.cost.isConstant { return OperationCosts(operation.cost.constant) }
    var request = CostRequest(variables, defaults: operation.defaults, inputWeight)
    let cost = parts.value(of: operation.cost, &request)
    return OperationCosts(cost, faults: request.faults)
  }
}
