internal import CarabinerWire

extension DocumentCheck {
  /// Checks what depends on an operation and all fragments that it contains: variables, and the rules for subscriptions.
  mutating func checkOperations() {
    // Marks are cleared one by one, because an array for each operation would take quadratic time.
    var marks = [Bool](repeating: false, count: definitions.count)
    for number in definitions.indices {
      guard let operation = definitions[number].operation else { continue }
      let contained = markReachable(from: number, &marks)
      for definition in contained { marks[definition] = false }
      guard step(contained.count + 1) else { return }
      checkVariables(of: number, contained)
      if operation == .subscription {
        checkSingleField(of: number)
        for offset in contained.flatMap({ definitions[$0].incremental }) {
          report(
            .deferStreamDirectiveOnValidOperations,
            "@defer and @stream are not for subscriptions; remove it, or switch it off with if: false", at: offset)
        }
      }
    }
  }

  // MARK: Variables

  private mutating func checkVariables(of number: Int, _ contained: [Int]) {
    let operation = definitions[number]
    let owner = operation.name.map { "the operation \($0)" } ?? "the operation"
    var variables: [String: VariablePart] = [:]
    // Of two variables with one name graphql-js takes the last one.
    for variable in operation.variables { variables[variable.name] = variable }
    var used: Set<String> = []
    for definition in contained {
      for use in definitions[definition].uses {
        guard step() else { return }
        guard let variable = variables[use.name] else {
          report(
            .noUndefinedVariables,
            "\(owner) declares no variable $\(use.name)\(suggestion(for: use.name, among: variables.keys.sorted())); declare it",
            at: use.offset, operation.offset)
          continue
        }
        used.insert(use.name)
        check(use, of: variable)
      }
    }
    for variable in operation.variables where !used.contains(variable.name) {
      report(
        .noUnusedVariables, "the variable $\(variable.name) of \(owner) is not used; use it, or remove it", at: variable.offset)
    }
  }

  private mutating func check(_ use: VariableUse, of variable: VariablePart) {
    guard let given = variable.type, let expected = use.type else { return }
    var wanted = expected
    if expected.isNonNull, !given.isNonNull, variable.hasDefault || use.hasDefault { wanted = expected.nullable }
    if !given.fits(wanted) || use.isOneOf && !given.isNonNull {
      let type = use.isOneOf && !expected.isNonNull ? "\(expected)!" : expected.description
      report(
        .variablesInAllowedPosition,
        "the variable $\(variable.name) is of type \(given), and \(type) is expected here; declare it as \(type)",
        at: variable.offset, use.offset)
    }
  }

  // MARK: Subscriptions

  /// Checks that a subscription selects one field, also behind fragments.
  private mutating func checkSingleField(of number: Int) {
    var found: [FieldPart] = []
    var conditions: [Int] = []
    var seen: Set<Int> = []
    let root = types[number]
    var waiting = [definitions[number].set]
    while let set = waiting.popLast() {
      for selection in sets[set].selections {
        conditions += selection.conditions
        switch selection.kind {
        case .field(let field): found.append(fields[field])
        case .inline(let inner): if applies(inner, to: root) { waiting.append(inner) }
        case .spread(let fragment):
          let inner = definitions[fragment].set
          if seen.insert(fragment).inserted, applies(inner, to: root) { waiting.append(inner) }
        }
      }
    }
    let owner = definitions[number].name.map { "the subscription \($0)" } ?? "the subscription"
    found.sort { $0.offset < $1.offset }
    let groups = Grouping(found, by: \.responseKey).groups
    if groups.count != 1 {
      let others = groups.isEmpty ? [sets[definitions[number].set].offset] : groups.dropFirst().flatMap { $0.map(\.offset) }
      report(.singleFieldSubscriptions, "\(owner) must select exactly one field; make a subscription for each", at: others)
    }
    for group in groups where group[0].name.hasPrefix("__") {
      report(
        .singleFieldSubscriptions, "\(owner) must select a field of its own, and \(group[0].name) is for introspection",
        at: group.map(\.offset))
    }
    if !conditions.isEmpty {
      report(
        .singleFieldSubscriptions, "@skip and @include are not allowed on the root field of \(owner); remove them",
        at: conditions.sorted())
    }
  }

  /// Whether the selection set of a fragment applies to an object of a type; nil if the type is not known.
  private func applies(_ set: Int, to root: Schema.NamedType?) -> Bool {
    guard let schema, let root else { return true }
    return sets[set].type.map { schema.object(root.name, fits: $0.name) == true } ?? false
  }
}
