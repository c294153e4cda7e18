/// The number of values that a field returns, as far as its arguments state it.
package enum ListLength: Sendable {
  /// The product of a number and the values of variables.
  case product(Double, variables: [String])
  /// The largest value of slicing arguments.
  case sliced(SlicingArguments)
}

/// The arguments of a field that state the length of a list.
package struct SlicingArguments: Sendable {
  /// An argument whose value is a variable.
  private struct Variable {
    let name: String
    /// The default value of the argument. It applies if the request does not set the variable.
    let defaultValue: Double?
  }

  /// The field in messages, such as `Query.films`.
  private let field: String
  /// The names of the arguments.
  private let names: [String]
  /// Whether exactly one argument must be given.
  private let requiresOne: Bool
  /// The length if no argument is given.
  private let assumedSize: Double
  private var values: [Double] = []
  private var variables: [Variable] = []

  package init(of field: String, named names: [String], requiresOne: Bool, assumedSize: Double) {
    self.field = field
    self.names = names
    self.requiresOne = requiresOne && !names.isEmpty
    self.assumedSize = assumedSize
  }

  /// Adds an argument, or its default value.
  package mutating func add(_ value: GraphQLDocument.Value?, default defaultValue: GraphQLDocument.Value?) {
    let defaultValue = defaultValue == .null ? nil : defaultValue.map { CostFactor.of($0) }
    switch value {
    case .variable(let name)?: variables.append(Variable(name: name, defaultValue: defaultValue))
    case .null?: break
    case let value?: values.append(CostFactor.of(value))
    case nil: if let defaultValue { values.append(defaultValue) }
    }
  }

  /// The length if it does not depend on variables and the arguments are valid; otherwise nil.
  var constant: Double? {
    guard variables.isEmpty, !requiresOne || values.count == 1 else { return nil }
    return values.max() ?? assumedSize
  }

  /// The length, and the message if the number of arguments is not valid.
  func length(_ value: (String) -> JSONValue?) -> (length: Double, fault: String?) {
    var given = values
    for variable in variables {
      switch value(variable.name) {
      case nil: if let number = variable.defaultValue { given.append(number) }
      case .null?: break
      case let value?: given.append(CostFactor.of(value))
      }
    }
    let length = given.max() ?? assumedSize
    guard requiresOne, given.count != 1 else { return (length, nil) }
    let list = names.joined(separator: ", ")
    return (length, "\(field) needs exactly one of the arguments \(list), and \(given.count) are given; give one")
  }
}
