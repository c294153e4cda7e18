/// Measures the definitions of a document. A fragment is measured before the definitions that spread it.
struct DocumentMeasurement<Pricing: FieldPricing> {
  /// The measures of a selection set.
  private struct Measures {
    var size = OperationSize()
    var cost = OperationCost()
    /// The cost of fields whose list length a field above may state, by the name of the field.
    var sizable: [String: OperationCost] = [:]
  }

  private let pricing: Pricing
  private let sizedFields: Set<String>
  private(set) var parts = CostParts()
  private var fragments: [String: Measures] = [:]

  init(_ pricing: Pricing) {
    self.pricing = pricing
    sizedFields = pricing.sizedFields
  }

  mutating func add(_ fragment: GraphQLDocument.FragmentDefinition) {
    var measures = measure(fragment.selectionSet, in: pricing.parent(named: fragment.typeCondition))
    measures.size.directives += fragment.directives.count
    // One part for all spreads.
    measures.cost = shared(measures.cost)
    for name in measures.sizable.keys { measures.sizable[name] = measures.sizable[name].map { shared($0) } }
    fragments[fragment.name] = measures
  }

  mutating func measure(_ operation: GraphQLDocument.OperationDefinition) -> (OperationSize, OperationCost) {
    let (parent, weight) = pricing.root(of: operation.type)
    var measures = measure(operation.selectionSet, in: parent)
    measures.size.directives += operation.directives.count + operation.variables.reduce(0) { $0 + $1.directives.count }
    measures.cost.constant = measures.cost.constant + Cost(types: weight)
    return (measures.size, measures.cost)
  }

  /// Recursive, because the parser limits how deep selection sets are nested in the text.
  private mutating func measure(_ selections: [GraphQLDocument.Selection], in parent: Pricing.Parent) -> Measures {
    var measures = Measures()
    for selection in selections {
      switch selection {
      case .field(let field): add(field, in: parent, to: &measures)
      case .inlineFragment(let fragment):
        var inner = measure(fragment.selectionSet, in: fragment.typeCondition.map { pricing.parent(named: $0) } ?? parent)
        inner.size.directives += fragment.directives.count
        add(inner, to: &measures)
      case .fragmentSpread(let spread):
        // A fragment that is not defined is left to the upstream, which refuses it.
        var inner = fragments[spread.name] ?? Measures()
        inner.size.directives += spread.directives.count
        add(inner, to: &measures)
      }
    }
    return measures
  }

  private mutating func add(_ field: GraphQLDocument.Field, in parent: Pricing.Parent, to measures: inout Measures) {
    let (price, inner) = pricing.price(of: field, in: parent)
    var below = measure(field.selectionSet, in: inner)
    measures.size.add(field, below: below.size)
    if price.weight.variables.isEmpty {
      measures.cost.constant = measures.cost.constant + Cost(fields: min(max(price.weight.constant, 0), Cost.highest))
    } else {
      measures.cost.add(parts.append(.weight(price.weight)))
    }
    below.cost.constant = below.cost.constant + Cost(types: price.valueWeight)
    if price.sizedFields.isEmpty {
      let listed = times(price.length, below.cost)
      measures.cost.add(listed)
      if price.isSizedFromAbove, sizedFields.contains(field.name) { measures.sizable[field.name, default: .init()].add(listed) }
    } else {
      measures.cost.add(shared(below.cost))
      var further = OperationCost()
      for name in Set(price.sizedFields) { if let cost = below.sizable[name] { further.add(cost) } }
      measures.cost.add(times(price.length, further, isFurther: true))
    }
  }

  /// Adds the measures of a fragment.
  private mutating func add(_ inner: Measures, to measures: inout Measures) {
    measures.size.add(inner.size)
    measures.cost.add(shared(inner.cost))
    for (name, cost) in inner.sizable { measures.sizable[name, default: OperationCost()].add(shared(cost)) }
  }

  /// A cost with one term at most, so that costs do not grow with each selection set around them.
  private mutating func shared(_ cost: OperationCost) -> OperationCost { times(.product(1, variables: []), cost) }

  /// The cost of a list.
  ///
  /// - Parameter isFurther: Whether the cost of one element is counted elsewhere.
  private mutating func times(_ length: ListLength, _ cost: OperationCost, isFurther: Bool = false) -> OperationCost {
    var (factor, variables) = (1.0, [String]())
    switch length {
    case .product(let number, let names): (factor, variables) = (number, names)
    case .sliced(let arguments):
      guard let constant = arguments.constant else { return parts.append(.list(arguments, of: cost, isFurther: isFurther)) }
      factor = constant
    }
    if isFurther { factor -= 1 }
    if cost.isConstant, variables.isEmpty || cost.constant.isZero {
      var product = OperationCost()
      product.constant = cost.constant * factor
      return product
    }
    // A part that is only another part with a factor of one needs no part of its own.
    if factor == 1, variables.isEmpty, cost.constant.isZero, cost.terms.count == 1 { return cost }
    return parts.append(.sum(cost), times: factor, variables)
  }
}
