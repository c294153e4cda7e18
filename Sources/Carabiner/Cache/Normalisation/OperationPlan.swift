internal import CarabinerWire

/// An operation of a document, prepared for normalising and reading responses.
final class OperationPlan: Sendable {
  /// The key of the root record of the operation.
  let rootKey: String
  /// The type of that record in policies.
  let rootType: String
  let root: SelectionPlan
  let source: PlanSource
  private let defaults: [(name: String, value: JSONValue)]

  init(document: String, operationName: String?) throws {
    let parsed = try GraphQLDocument(parsing: document)
    guard let operation = parsed.operation(named: operationName) else { throw PlanError.noSuchOperation }
    let rootRecord: RootRecord =
      switch operation.type {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
    rootKey = rootRecord.rawValue
    rootType = rootRecord.typeName
    var source = try PlanSource(parsed)
    let set = try source.add(operation.selectionSet)
    self.source = source
    root = try SelectionPlan([SelectionPlan.Selection(set: set, latePart: nil)], source)
    defaults = operation.variables.compactMap { variable in
      variable.defaultValue?.resolved(with: [:]).map { (variable.name, $0) }
    }
  }

  /// Creates the plan of a fragment on one object. The key of the object is passed with each use.
  init(document: String, fragmentName: String?) throws {
    let parsed = try GraphQLDocument(parsing: document)
    guard let fragment = fragmentName.map({ parsed.fragment(named: $0) }) ?? parsed.fragments.first else {
      throw PlanError.unknownFragment(fragmentName ?? "")
    }
    rootKey = ""
    rootType = ""
    var source = try PlanSource(parsed)
    let set = try source.add(fragment.selectionSet)
    self.source = source
    root = try SelectionPlan([SelectionPlan.Selection(set: set, latePart: nil)], source)
    defaults = []
  }

  /// The conditions and keys for some values of the variables.
  func call(variables: JSONObject) -> PlanCall {
    guard !source.conditions.isEmpty || !source.dynamicKeys.isEmpty else { return PlanCall(conditions: [], dynamicKeys: []) }
    let variables = completed(variables)
    return PlanCall(
      conditions: source.conditions.map { condition in
        variables[condition.variable]?.bool.map { $0 == condition.expected } ?? condition.holdsWithoutValue
      },
      dynamicKeys: source.dynamicKeys.map { FieldKeyText.text($0.name, $0.arguments, variables: variables) })
  }

  /// The variables with defaults for those without a value.
  func completed(_ variables: JSONObject) -> JSONObject {
    var variables = variables
    for (name, value) in defaults where !variables.contains(name) { variables[name] = value }
    return variables
  }
}

/// The conditions and keys of a plan for the variables of one request.
struct PlanCall: Sendable {
  /// Whether each condition holds.
  let conditions: [Bool]
  /// The keys that depend on variables.
  let dynamicKeys: [String]

  /// The name of a field in a record.
  func name(_ key: PlanSource.FieldKey) -> String {
    switch key {
    case .constant(let name): name
    case .dynamic(let number): dynamicKeys[number]
    }
  }

  func allows(_ part: SelectionPlan.Part) -> Bool { allows(part.guards) }

  /// Whether a deferral holds with these variables.
  func allows(_ deferral: PlanSource.Deferral) -> Bool { deferral.condition.map { conditions[$0] } ?? true }

  func allows(_ guards: [Int]) -> Bool {
    for guardian in guards where !conditions[guardian] { return false }
    return true
  }
}
