/// The two costs of the GraphQL Cost Directives Specification. Both are at most ``highest`` and never negative.
struct Cost: Sendable {
  /// Counts do not grow above this, so sums and products are finite.
  static let highest = Double(OperationSize.highest)

  /// The sum of the weights of the fields that are resolved.
  var fields = 0.0
  /// The sum of the weights of the values that are returned.
  var types = 0.0

  var isZero: Bool { fields == 0 && types == 0 }

  static func + (left: Cost, right: Cost) -> Cost {
    Cost(fields: min(left.fields + right.fields, highest), types: min(left.types + right.types, highest))
  }

  static func * (left: Cost, right: Double) -> Cost {
    Cost(fields: min(left.fields * right, highest), types: min(left.types * right, highest))
  }
}
