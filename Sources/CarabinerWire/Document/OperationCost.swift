/// The cost of an operation or a part of it.
///
/// Arguments that are variables have their values only in a request. So the cost is a sum that is evaluated for each request, in a
/// time proportional to the text.
package struct OperationCost: Sendable {
  /// A factor before the cost of a part.
  struct Term: Sendable {
    var factor: Double
    /// The variables whose values are further factors.
    var variables: [String]
    /// The part, as its place in ``CostParts``.
    var part: Int
  }

  /// The cost that does not depend on variables.
  var constant = Cost()
  var terms: [Term] = []

  mutating func add(_ other: OperationCost) {
    constant = constant + other.constant
    terms += other.terms
  }

  /// Whether the cost does not depend on variables.
  package var isConstant: Bool { terms.isEmpty }
}

/// The parts of costs that operations of a document share. A part refers only to parts before it.
struct CostParts: Sendable {
  enum Part: Sendable {
    case sum(OperationCost)
    /// The cost of a list whose length is known in a request.
    ///
    /// - Parameter isFurther: Whether the cost of one element is counted elsewhere.
    case list(SlicingArguments, of: OperationCost, isFurther: Bool)
    /// The cost of a field whose arguments are known in a request.
    case weight(FieldWeight)

    /// The terms that it refers to.
    fileprivate var terms: [OperationCost.Term] {
      switch self {
      case .sum(let cost), .list(_, let cost, _): cost.terms
      case .weight: []
      }
    }
  }

  private var parts: [Part] = []
  /// Whether a part can have a fault.
  private var hasLists = false

  /// Adds a part.
  ///
  /// - Returns: The part, times a factor.
  mutating func append(_ part: Part, times factor: Double = 1, _ variables: [String] = []) -> OperationCost {
    parts.append(part)
    if case .list = part { hasLists = true }
    var cost = OperationCost()
    cost.terms = [OperationCost.Term(factor: factor, variables: variables, part: parts.count - 1)]
    return cost
  }

  /// The value of a cost.
  func value(of cost: OperationCost, _ request: inout CostRequest) -> Cost {
    if cost.isConstant { return cost.constant }
    let needed = hasLists ? places(in: cost) : nil
    var values = [Cost](repeating: Cost(), count: parts.count)
    for place in parts.indices where needed?[place] ?? true {
      switch parts[place] {
      case .sum(let cost): values[place] = Self.sum(cost, values, &request)
      case .list(let arguments, let cost, let isFurther):
        let length = request.length(arguments)
        values[place] = Self.sum(cost, values, &request) * (isFurther ? length - 1 : length)
      case .weight(let weight): values[place].fields = request.value(of: weight)
      }
    }
    return Self.sum(cost, values, &request)
  }

  /// For each part, whether a cost refers to it. Faults in other operations of the document do not count.
  private func places(in cost: OperationCost) -> [Bool] {
    var isNeeded = [Bool](repeating: false, count: parts.count)
    for term in cost.terms { isNeeded[term.part] = true }
    for place in parts.indices.reversed() where isNeeded[place] {
      for term in parts[place].terms { isNeeded[term.part] = true }
    }
    return isNeeded
  }

  private static func sum(_ cost: OperationCost, _ values: [Cost], _ request: inout CostRequest) -> Cost {
    var sum = cost.constant
    for term in cost.terms {
      var product = values[term.part] * term.factor
      for variable in term.variables { product = product * request.factor(of: variable) }
      sum = sum + product
    }
    return sum
  }
}
