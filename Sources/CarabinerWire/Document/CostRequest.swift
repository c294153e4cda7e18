/// The variables of a request while a cost is evaluated.
///
/// Many arguments may use the same variable, and its value may be long. Each value is therefore read once.
struct CostRequest {
  private struct Use: Hashable {
    let variable: String
    let type: String
  }

  private let variables: JSONObject
  private let defaults: [String: GraphQLDocument.Value]
  private let inputWeight: @Sendable (JSONValue, String) -> Double
  private var factors: [String: Double] = [:]
  /// Nil for a variable without a value.
  private var weights: [Use: Double?] = [:]
  private var known: Set<String> = []
  /// The messages about arguments, each once.
  private(set) var faults: [String] = []

  /// - Parameter inputWeight: The sum of the weights of the input fields that a value uses, by the name of its type.
  init(
    _ variables: JSONObject, defaults: [String: GraphQLDocument.Value],
    _ inputWeight: @escaping @Sendable (JSONValue, String) -> Double
  ) {
    self.variables = variables
    self.defaults = defaults
    self.inputWeight = inputWeight
  }

  /// The value of a variable, or its default value; nil if it has none.
  private func value(of variable: String) -> JSONValue? {
    variables[variable] ?? defaults[variable]?.resolved(with: JSONObject())
  }

  /// The value of a variable as a factor.
  mutating func factor(of variable: String) -> Double {
    if let factor = factors[variable] { return factor }
    let factor = variables[variable].map { CostFactor.of($0) } ?? defaults[variable].map { CostFactor.of($0) } ?? 1
    factors[variable] = factor
    return factor
  }

  /// The length of a list.
  mutating func length(_ arguments: SlicingArguments) -> Double {
    let (length, fault) = arguments.length { value(of: $0) }
    if let fault, known.insert(fault).inserted { faults.append(fault) }
    return length
  }

  /// The weight of a field, at least zero.
  mutating func value(of weight: FieldWeight) -> Double {
    let sum = weight.variables.reduce(weight.constant) { $0 + self.weight(of: $1) }
    return min(max(sum, 0), Cost.highest)
  }

  private mutating func weight(of variable: FieldWeight.Variable) -> Double {
    let use = Use(variable: variable.name, type: variable.type)
    let inner: Double?
    if let known = weights[use] {
      inner = known
    } else {
      let value = value(of: variable.name)
      inner = value.flatMap { $0.isNull ? nil : inputWeight($0, variable.type) }
      weights.updateValue(inner, forKey: use)
    }
    return inner.map { variable.weight + $0 } ?? 0
  }
}
