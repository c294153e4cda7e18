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
  private var parts = CostParts()

  /// - Parameter listArguments: The names of arguments that multiply the cost of the fields below.
  /// - Throws: ``Fault``.
  package init(_ document: GraphQLDocument, listArguments: [String]) throws(Fault) {
    var measurement = DocumentMeasurement(listArguments: Set(listArguments))
    for fragment in try FragmentOrder(document.fragments).fragments { measurement.add(fragment) }
    operations = document.operations.map { operation in
      let (size, cost) = measurement.measure(operation)
      let defaults = operation.variables.compactMap { variable in variable.defaultValue.map { (variable.name, $0) } }
      return Operation(size: size, cost: cost, defaults: Dictionary(defaults) { first, _ in first })
    }
    parts = measurement.parts
  }

  /// The cost of an operation, at most ``OperationSize/highest``.
  package func cost(of operation: Operation, variables: JSONObject) -> Int {
    // Many arguments may have one variable, whose text may be long.
    var factors: [String: Double] = [:]
    return parts.value(of: operation.cost) { name in
      if let known = factors[name] { return known }
      let factor = variables[name].map { CostFactor.of($0) } ?? operation.defaults[name].map { CostFactor.of($0) } ?? 1
      factors[name] = factor
      return factor
    }
  }
}

/// The factor that the value of an argument is. A value that is not a number above one does not make the fields below cheaper.
enum CostFactor {
  static func of(_ value: JSONValue) -> Double { value.number.map { of($0.double) } ?? value.string.map { of($0) } ?? 1 }

  static func of(_ value: GraphQLDocument.Value) -> Double {
    switch value {
    case .int(let number), .float(let number): of(number.double)
    case .string(let text): of(text)
    case .variable, .boolean, .null, .enumeration, .list, .object: 1
    }
  }

  /// Some servers take text for a number, with spaces around it, and with the digits of other scripts and underscores as Python does.
  private static func of(_ text: String) -> Double {
    var plain = ""
    for character in text where !character.isWhitespace && character != "_" {
      if let digit = character.wholeNumberValue { plain += String(digit) } else { plain.append(character) }
    }
    return of(Double(plain) ?? 1)
  }

  private static func of(_ value: Double) -> Double { value > 1 ? min(value, OperationCost.highest) : 1 }
}

/// Measures definitions, fragments before those that spread them.
private struct DocumentMeasurement {
  private let listArguments: Set<String>
  private(set) var parts = CostParts()
  private var fragments: [String: (size: OperationSize, cost: OperationCost)] = [:]

  init(listArguments: Set<String>) { self.listArguments = listArguments }

  mutating func add(_ fragment: GraphQLDocument.FragmentDefinition) {
    var (size, cost) = measure(fragment.selectionSet)
    size.directives += fragment.directives.count
    // One part for all spreads.
    if !cost.isConstant {
      let place = parts.append(cost)
      cost = OperationCost()
      cost.terms = [OperationCost.Term(factor: 1, variables: [], part: place)]
    }
    fragments[fragment.name] = (size, cost)
  }

  mutating func measure(_ operation: GraphQLDocument.OperationDefinition) -> (OperationSize, OperationCost) {
    var (size, cost) = measure(operation.selectionSet)
    size.directives += operation.directives.count + operation.variables.reduce(0) { $0 + $1.directives.count }
    return (size, cost)
  }

  /// Recursive, because the parser limits how deep selection sets are nested in the text.
  private mutating func measure(_ selections: [GraphQLDocument.Selection]) -> (OperationSize, OperationCost) {
    var size = OperationSize()
    var cost = OperationCost()
    for selection in selections {
      switch selection {
      case .field(let field):
        let below = measure(field.selectionSet)
        size.add(field, below: below.0)
        cost.add(constant: 1)
        add(below.1, times: field.arguments, to: &cost)
      case .inlineFragment(let fragment):
        var inner = measure(fragment.selectionSet)
        inner.0.directives += fragment.directives.count
        size.add(inner.0)
        add(inner.1, times: [], to: &cost)
      case .fragmentSpread(let spread):
        // A fragment that is not defined is left to the upstream, which refuses it.
        var inner = fragments[spread.name] ?? (OperationSize(), OperationCost())
        inner.size.directives += spread.directives.count
        size.add(inner.size)
        add(inner.cost, times: [], to: &cost)
      }
    }
    return (size, cost)
  }

  /// Adds the cost of a selection set to that of the set around it.
  private mutating func add(
    _ inner: OperationCost, times arguments: [GraphQLDocument.Argument], to cost: inout OperationCost
  ) {
    var factor = 1.0
    var variables: [String] = []
    for argument in arguments where listArguments.contains(argument.name) {
      if case .variable(let name) = argument.value {
        variables.append(name)
      } else {
        factor = min(factor * CostFactor.of(argument.value), OperationCost.highest)
      }
    }
    if inner.isConstant, variables.isEmpty { return cost.add(constant: min(factor * inner.constant, OperationCost.highest)) }
    // A part that is only another part with a factor of one needs no part of its own.
    if factor == 1, variables.isEmpty, inner.constant == 0, inner.terms.count == 1 { return cost.terms.append(inner.terms[0]) }
    cost.terms.append(OperationCost.Term(factor: factor, variables: variables, part: parts.append(inner)))
  }
}

/// Sorts fragments so that each one comes after those that it spreads.
private struct FragmentOrder {
  let fragments: [GraphQLDocument.FragmentDefinition]

  init(_ fragments: [GraphQLDocument.FragmentDefinition]) throws(DocumentMeasures.Fault) {
    var places: [String: Int] = [:]
    for (place, fragment) in fragments.enumerated() {
      guard places.updateValue(place, forKey: fragment.name) == nil else { throw .duplicateFragment(fragment.name) }
    }
    // For each fragment, those that spread it, and how many that it spreads are not sorted yet.
    var users = fragments.map { _ in [Int]() }
    var open = fragments.map { _ in 0 }
    for (place, fragment) in fragments.enumerated() {
      for used in Set(Self.spreads(in: fragment.selectionSet).compactMap { places[$0] }) {
        users[used].append(place)
        open[place] += 1
      }
    }
    var sorted = open.indices.filter { open[$0] == 0 }
    var next = 0
    while next < sorted.count {
      for user in users[sorted[next]] {
        open[user] -= 1
        if open[user] == 0 { sorted.append(user) }
      }
      next += 1
    }
    if let place = open.firstIndex(where: { $0 > 0 }) { throw .cycle(fragments[place].name) }
    self.fragments = sorted.map { fragments[$0] }
  }

  private static func spreads(in selections: [GraphQLDocument.Selection]) -> [String] {
    var names: [String] = []
    collect(selections, into: &names)
    return names
  }

  private static func collect(_ selections: [GraphQLDocument.Selection], into names: inout [String]) {
    for selection in selections {
      switch selection {
      case .field(let field): collect(field.selectionSet, into: &names)
      case .inlineFragment(let fragment): collect(fragment.selectionSet, into: &names)
      case .fragmentSpread(let spread): names.append(spread.name)
      }
    }
  }
}
