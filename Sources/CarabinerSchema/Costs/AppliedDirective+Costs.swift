internal import CarabinerWire

extension [Schema.AppliedDirective] {
  private func argument(_ name: String, of directive: String) -> GraphQLDocument.Value? {
    first { $0.name == directive }?.argument(named: name)
  }

  /// The weight that `@cost` states; nil if there is none, or if it is not a number.
  ///
  /// It is a string in the specification, for formulas of later editions, and an integer in other schemas.
  var costWeight: Double? {
    let weight: Double? =
      switch argument("weight", of: "cost") {
      case .string(let text)?: Double(text)
      case .int(let number)?, .float(let number)?: number.double
      default: nil
      }
    guard let weight, weight.isFinite else { return nil }
    let highest = Double(OperationSize.highest)
    return Swift.min(Swift.max(weight, -highest), highest)
  }

  /// The list size that `@listSize` states; nil if there is none.
  var listSize: ListSize? {
    guard contains(where: { $0.name == "listSize" }) else { return nil }
    var size = ListSize()
    size.assumedSize = argument("assumedSize", of: "listSize").flatMap { $0 == .null ? nil : CostFactor.of($0) }
    size.slicingArguments = Self.names(argument("slicingArguments", of: "listSize"))
    size.sizedFields = Self.names(argument("sizedFields", of: "listSize"))
    size.requiresOneSlicingArgument = argument("requireOneSlicingArgument", of: "listSize") != .boolean(false)
    return size
  }

  private static func names(_ value: GraphQLDocument.Value?) -> [String] {
    switch value {
    case .string(let name)?: [name]
    case .list(let elements)?: elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
    default: []
    }
  }
}
