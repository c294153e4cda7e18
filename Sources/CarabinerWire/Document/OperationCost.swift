/// The cost of an operation: one for each field, times the integer arguments of the fields above it.
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

  /// The cost of fields above which no variable is an argument.
  var constant = 0.0
  var terms: [Term] = []

  static let highest = Double(OperationSize.highest)

  mutating func add(constant more: Double) { constant = min(constant + more, Self.highest) }

  /// Whether the cost depends on variables.
  package var isConstant: Bool { terms.isEmpty }
}

/// The parts of costs that operations of a document share. A part refers only to parts before it.
struct CostParts: Sendable {
  private(set) var parts: [OperationCost] = []

  /// Adds a part and returns its place.
  mutating func append(_ part: OperationCost) -> Int {
    parts.append(part)
    return parts.count - 1
  }

  /// The cost, at most ``OperationSize/highest``.
  ///
  /// - Parameter value: The value of a variable as a factor.
  func value(of cost: OperationCost, _ value: (String) -> Double) -> Int {
    guard !cost.isConstant else { return Int(cost.constant) }
    var values: [Double] = []
    values.reserveCapacity(parts.count)
    for part in parts { values.append(Self.sum(part, values, value)) }
    return Int(Self.sum(cost, values, value))
  }

  private static func sum(_ cost: OperationCost, _ values: [Double], _ value: (String) -> Double) -> Double {
    var sum = cost.constant
    for term in cost.terms {
      var product = term.factor * values[term.part]
      for variable in term.variables { product = min(product * value(variable), OperationCost.highest) }
      sum = min(sum + product, OperationCost.highest)
    }
    return sum
  }
}
