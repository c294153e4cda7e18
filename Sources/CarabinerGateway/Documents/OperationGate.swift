internal import Carabiner
internal import CarabinerWire
internal import Logging

/// Turns the parameters of a request into an operation, if the rules of the generation allow it.
final class OperationGate: Sendable {
  private let documents = DocumentIndex()
  private let metrics: OperationRuleMetrics
  private let unlisted: UnlistedOperations

  init(_ metrics: OperationRuleMetrics, logger: Logger) {
    self.metrics = metrics
    unlisted = UnlistedOperations(logger)
  }

  /// Returns the operation that the parameters select.
  ///
  /// - Parameters:
  ///   - parameters: The parameters of the request.
  ///   - rules: The rules for operations; nil if all may run.
  ///   - isEventSource: Whether a subscription may come by GET.
  /// - Throws: A refusal with its status.
  func operation(
    _ parameters: GraphQLParameters, _ rules: OperationRules?, isEventSource: Bool = false
  ) throws(RequestRefusal) -> DynamicOperation {
    let document: String
    let entry: DocumentIndex.Entry
    if let rules {
      (document, entry) = try checked(parameters, rules)
    } else {
      document = try parameters.document()
      entry = try documents.entry(for: document)
    }
    let (place, name, type) = try entry.operation(named: parameters.operationName)
    if parameters.isGET, type == .mutation || type == .subscription && !isEventSource {
      throw RequestRefusal(405, "a \(type) needs POST", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "POST"])
    }
    if let rules, let analysis = entry.analysis { try check(analysis, place, parameters.variables, rules) }
    var operation = DynamicOperation(
      document: document, operationName: name, operationType: type, variables: parameters.variables,
      extensions: parameters.extensions)
    if let plain = entry.plain, rules?.keepsDescriptions != true { operation.document = plain }
    return operation
  }

  /// Returns the document of a request, after the list of operations was applied.
  private func checked(
    _ parameters: GraphQLParameters, _ rules: OperationRules
  ) throws(RequestRefusal) -> (String, DocumentIndex.Entry) {
    do throws(RequestRefusal) {
      let document = try rules.document(of: parameters)
      let entry = try documents.entry(for: document, rules) { tokens throws(RequestRefusal) in
        try self.check(.tokens, rules.limits?.tokens, tokens, rules)
      }
      guard let list = rules.list else { return (document, entry) }
      guard let analysis = entry.analysis, !analysis.isListed else {
        metrics.looked(.listed)
        return (document, entry)
      }
      unlisted.note(analysis.hash)
      guard list.mode == .audit else {
        throw RequestRefusal(
          400, "this operation is not in the gateway's list; publish it before a client sends it", code: "QUERY_NOT_IN_SAFELIST")
      }
      metrics.looked(.unlisted)
      return (document, entry)
    } catch {
      if error.isOfOperationList { metrics.looked(.refused) }
      throw error
    }
  }

  private func check(
    _ analysis: DocumentAnalysis, _ place: Int, _ variables: JSONObject, _ rules: OperationRules
  ) throws(RequestRefusal) {
    guard let measures = analysis.measures, place < measures.operations.count else { return }
    let operation = measures.operations[place]
    if !rules.allowsIntrospection, operation.size.usesIntrospection {
      throw RequestRefusal(
        400, "this gateway does not answer __schema and __type; read the schema where it is published",
        code: "INTROSPECTION_DISABLED")
    }
    guard let limits = rules.limits else { return }
    let size = operation.size
    try check(.depth, limits.depth, size.depth, rules)
    try check(.fields, limits.fields, size.fields, rules)
    try check(.rootFields, limits.rootFields, size.rootFields, rules)
    try check(.aliases, limits.aliases, size.aliases, rules)
    try check(.directives, limits.directives, size.directives, rules)
    if limits.cost != nil { try check(.cost, limits.cost, measures.cost(of: operation, variables: variables), rules) }
  }

  private func check(_ limit: OperationLimit, _ most: Int?, _ found: Int, _ rules: OperationRules) throws(RequestRefusal) {
    guard let most, found > most else { return }
    try note(limit, limit: most, found: found, rules)
  }

  /// Counts an operation above a limit.
  ///
  /// - Throws: The refusal, unless the operation runs with a warning.
  private func note(_ limit: OperationLimit, limit most: Int, found: Int, _ rules: OperationRules) throws(RequestRefusal) {
    let warns = rules.limits?.warnsOnly == true
    metrics.exceeded(limit, isRefused: !warns)
    if !warns { throw limit.refusal(limit: most, found: found) }
  }
}

extension RequestRefusal {
  /// Whether the operation was refused because of the list of operations.
  fileprivate var isOfOperationList: Bool {
    ["QUERY_NOT_IN_SAFELIST", "PERSISTED_QUERY_ID_REQUIRED", "PERSISTED_QUERY_NOT_IN_LIST"].contains(code)
  }
}
