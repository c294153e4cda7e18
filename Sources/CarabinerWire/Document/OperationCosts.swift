/// The costs of an operation with the variables of a request.
package struct OperationCosts: Sendable, Hashable {
  /// The field cost: the sum of the weights of the fields that are resolved.
  package let fields: Int
  /// The type cost: the sum of the weights of the values that are returned. It is zero without weights of a schema.
  package let types: Int
  /// The messages about fields that lack an argument for the length of their list, or have too many.
  package let faults: [String]

  /// The larger one of the two costs. The specification defines no sum of them, so a limit applies to each.
  package var highest: Int { max(fields, types) }

  init(_ cost: Cost, faults: [String] = []) {
    fields = Self.whole(cost.fields)
    types = Self.whole(cost.types)
    self.faults = faults
  }

  /// The next larger integer. Sums of weights such as 0.1 are not exact, so a millionth does not count.
  ///
  /// `rounded(.up)` calls the C library, and this module is linked without it.
  private static func whole(_ value: Double) -> Int {
    let floor = Int(value)
    return value - Double(floor) > 0.000_001 ? floor + 1 : floor
  }
}
