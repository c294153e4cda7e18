/// One price for all fields: each costs one, times the integer arguments of the fields above it.
package struct UniformPricing: FieldPricing {
  private let listArguments: Set<String>

  /// - Parameter listArguments: The names of arguments that multiply the cost of the fields below.
  package init(listArguments: [String]) { self.listArguments = Set(listArguments) }

  package var sizedFields: Set<String> { [] }

  package func root(of type: GraphQLDocument.OperationDefinition.OperationType) -> (parent: Void, weight: Double) { ((), 0) }

  package func parent(named type: String) {}

  package func price(of field: GraphQLDocument.Field, in parent: Void) -> (price: FieldPrice, below: Void) {
    (price(of: field), ())
  }

  /// The price of a field of any type.
  package func price(of field: GraphQLDocument.Field) -> FieldPrice {
    FieldPrice(weight: FieldWeight(1), length: length(of: field.arguments))
  }

  /// The product of the arguments for lists.
  package func length(of arguments: [GraphQLDocument.Argument]) -> ListLength {
    var factor = 1.0
    var variables: [String] = []
    for argument in arguments where listArguments.contains(argument.name) {
      if case .variable(let name) = argument.value {
        variables.append(name)
      } else {
        factor = min(factor * CostFactor.of(argument.value), Cost.highest)
      }
    }
    return .product(factor, variables: variables)
  }

  package func weight(of value: JSONValue, as type: String) -> Double { 0 }
}
