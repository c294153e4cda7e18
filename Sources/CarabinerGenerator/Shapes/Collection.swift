internal import CarabinerSchema

/// Selections of an object, with the type that they are written for.
struct TypedSelections {
  let selections: SelectionList
  let type: Schema.NamedType
}

/// The fields and fragments that hold in a scope, merged from all selections of an object.
struct Collection {
  /// A selection of a field.
  struct Contribution {
    let node: FieldNode
    /// The conditions that are not known in the scope.
    let conditions: [Condition]
    let parent: Schema.NamedType
    /// The fragment whose type has the field as well; nil if none has.
    let origin: String?
  }

  struct Field {
    let responseKey: String
    var contributions: [Contribution]

    var isConditional: Bool { contributions.allSatisfy { !$0.conditions.isEmpty } }
  }

  struct Fragment {
    let name: String
    var isConditional: Bool
    var isDeferred: Bool
    /// The fragment that has it; nil if it is spread in the object's own selections.
    var origin: String?
  }

  private(set) var fields: [Field] = []
  private(set) var fragments: [Fragment] = []
  private var fieldPositions: [String: Int] = [:]
  private var fragmentPositions: [String: Int] = [:]

  /// Whether `__typename` is selected.
  var hasTypeName: Bool { fieldPositions["__typename"].map { !fields[$0].isConditional } ?? false }

  mutating func add(_ contribution: Contribution) {
    let key = contribution.node.responseKey
    if let position = fieldPositions[key] { return fields[position].contributions.append(contribution) }
    fieldPositions[key] = fields.count
    fields.append(Field(responseKey: key, contributions: [contribution]))
  }

  mutating func add(_ fragment: Fragment) {
    guard let position = fragmentPositions[fragment.name] else {
      fragmentPositions[fragment.name] = fragments.count
      return fragments.append(fragment)
    }
    let known = fragments[position]
    let isWeaker = fragment.isConditional || fragment.isDeferred
    let isKnownWeaker = known.isConditional || known.isDeferred
    // An unconditional spread replaces a conditional one. Of two equal ones, the object's own spread is preferred, because it is
    // stored.
    if isKnownWeaker && !isWeaker || isKnownWeaker == isWeaker && known.origin != nil && fragment.origin == nil {
      fragments[position] = fragment
    }
  }
}
