internal import CarabinerSchema

/// The input objects whose values can contain values of their own type without a list between.
struct InputCycles {
  /// The number of the cycle of each input object that is in one.
  private var cycles: [String: Int] = [:]

  init(_ schema: Schema) {
    let types = schema.types.filter { $0.kind == .inputObject }
    var numbers: [String: Int] = [:]
    for (number, type) in types.enumerated() { numbers[type.name] = number }
    let edges = types.map { type in
      type.inputFields.filter { !$0.type.isList }.compactMap { numbers[$0.type.name] }
    }
    let components = StronglyConnectedComponents(count: types.count) { edges[$0] }
    for (number, component) in components.cyclic.enumerated() {
      for member in component { cycles[types[member].name] = number }
    }
  }

  /// Whether a field of one type can contain the type again.
  func contains(_ type: String, _ field: String) -> Bool {
    guard let cycle = cycles[type] else { return false }
    return cycles[field] == cycle
  }
}
