internal import CarabinerWire

/// The selection sets of a document as flat lists that refer to each other by number.
struct PlanSource: Sendable {
  enum FieldKey: Sendable {
    /// The field's key in a record.
    case constant(String)
    /// The number of a key that depends on variables.
    case dynamic(Int)
  }

  struct Field: Sendable {
    let responseKey: String
    let name: String
    let key: FieldKey
    let arguments: [GraphQLDocument.Argument]
    /// The number of the selection set; nil for a scalar.
    let set: Int?
    let guards: [Int]
  }

  struct Fragment: Sendable {
    let typeCondition: String?
    let set: Int
    let guards: [Int]
    /// The number of its `@defer`; nil if it has none.
    let deferral: Int?
  }

  /// An `@defer` on a fragment.
  struct Deferral: Sendable {
    let label: String?
    /// The condition under which the fragment is deferred; nil for always.
    let condition: Int?
  }

  enum Node: Sendable {
    case field(Field)
    case fragment(Fragment)
  }

  /// An `@include`, `@skip` or `@defer` that depends on a variable.
  struct Condition: Sendable {
    let variable: String
    let expected: Bool
    /// Whether the condition holds if the variable has no value.
    let holdsWithoutValue: Bool
  }

  struct DynamicKey: Sendable {
    let name: String
    let arguments: [GraphQLDocument.Argument]
  }

  private(set) var sets: [[Node]] = []
  private(set) var conditions: [Condition] = []
  private(set) var dynamicKeys: [DynamicKey] = []
  private(set) var deferrals: [Deferral] = []
  /// Whether there is a field whose objects are selected without their type.
  private(set) var lacksTypes = false
  private var fragments: [String: (set: Int, typeCondition: String)] = [:]

  init(_ document: GraphQLDocument) throws(PlanError) {
    let definitions = document.fragments
    for fragment in definitions where fragments[fragment.name] == nil {
      fragments[fragment.name] = (sets.count, fragment.typeCondition)
      sets.append([])
    }
    var seen: Set<String> = []
    for fragment in definitions where seen.insert(fragment.name).inserted {
      guard let place = fragments[fragment.name]?.set else { continue }
      sets[place] = try nodes(fragment.selectionSet)
    }
  }

  /// Adds a selection set and returns its number.
  mutating func add(_ selections: [GraphQLDocument.Selection]) throws(PlanError) -> Int {
    let nodes = try nodes(selections)
    sets.append(nodes)
    return sets.count - 1
  }

  private mutating func nodes(_ selections: [GraphQLDocument.Selection]) throws(PlanError) -> [Node] {
    var nodes: [Node] = []
    nodes.reserveCapacity(selections.count)
    for selection in selections {
      switch selection {
      case .field(let field):
        guard let guards = guards(field.directives) else { continue }
        if !field.selectionSet.isEmpty, !field.name.hasPrefix("__"), !Self.mayHaveType(field.selectionSet) { lacksTypes = true }
        nodes.append(
          .field(
            Field(
              responseKey: field.responseKey, name: field.name, key: key(of: field), arguments: field.arguments,
              set: field.selectionSet.isEmpty ? nil : try add(field.selectionSet), guards: guards)))
      case .fragmentSpread(let spread):
        guard let guards = guards(spread.directives) else { continue }
        guard let fragment = fragments[spread.name] else { throw .unknownFragment(spread.name) }
        nodes.append(
          .fragment(
            Fragment(
              typeCondition: fragment.typeCondition, set: fragment.set, guards: guards, deferral: deferral(spread.directives))))
      case .inlineFragment(let fragment):
        guard let guards = guards(fragment.directives) else { continue }
        nodes.append(
          .fragment(
            Fragment(
              typeCondition: fragment.typeCondition, set: try add(fragment.selectionSet), guards: guards,
              deferral: deferral(fragment.directives))))
      }
    }
    return nodes
  }

  /// Whether a selection set selects the type. A fragment in it may select the type too.
  private static func mayHaveType(_ selections: [GraphQLDocument.Selection]) -> Bool {
    selections.contains { selection in
      switch selection {
      case .field(let field): field.name == "__typename"
      case .fragmentSpread, .inlineFragment: true
      }
    }
  }

  /// The conditions of a selection; nil if it is excluded for all values of the variables.
  private mutating func guards(_ directives: [GraphQLDocument.Directive]) -> [Int]? {
    var guards: [Int] = []
    for directive in directives where directive.name == "include" || directive.name == "skip" {
      let expected = directive.name == "include"
      switch directive.arguments.first(where: { $0.name == "if" })?.value {
      case .boolean(let value): if value != expected { return nil }
      case .variable(let name):
        guards.append(conditions.count)
        conditions.append(Condition(variable: name, expected: expected, holdsWithoutValue: !expected))
      default: break
      }
    }
    return guards
  }

  /// The number of the `@defer` among a fragment's directives; nil if there is none, or one that never holds.
  private mutating func deferral(_ directives: [GraphQLDocument.Directive]) -> Int? {
    guard let directive = directives.first(where: { $0.name == "defer" }) else { return nil }
    var (condition, label): (Int?, String?)
    for argument in directive.arguments {
      switch (argument.name, argument.value) {
      case ("if", .boolean(false)): return nil
      case ("if", .variable(let name)):
        condition = conditions.count
        conditions.append(Condition(variable: name, expected: true, holdsWithoutValue: true))
      case ("label", .string(let text)): label = text
      default: break
      }
    }
    deferrals.append(Deferral(label: label, condition: condition))
    return deferrals.count - 1
  }

  private mutating func key(of field: GraphQLDocument.Field) -> FieldKey {
    if field.arguments.isEmpty { return .constant(field.name) }
    guard field.arguments.contains(where: { $0.value.hasVariable }) else {
      return .constant(FieldKeyText.text(field.name, field.arguments, variables: [:]))
    }
    dynamicKeys.append(DynamicKey(name: field.name, arguments: field.arguments))
    return .dynamic(dynamicKeys.count - 1)
  }
}

/// A document cannot be used for normalisation.
enum PlanError: Error {
  case unknownFragment(String)
  case noSuchOperation
  case tooComplex
  /// A response does not match its document.
  case mismatch
}

extension GraphQLDocument.Value {
  fileprivate var hasVariable: Bool {
    switch self {
    case .variable: true
    case .list(let elements): elements.contains { $0.hasVariable }
    case .object(let fields): fields.contains { $0.value.hasVariable }
    default: false
    }
  }
}
