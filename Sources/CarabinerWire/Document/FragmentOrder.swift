/// Sorts fragments so that each one comes after those that it spreads.
struct FragmentOrder {
  let fragments: [GraphQLDocument.FragmentDefinition]

  init(_ fragments: [GraphQLDocument.FragmentDefinition]) throws(DocumentMeasures.Fault) {
    var places: [String: Int] = [:]
    for (place, fragment) in fragments.enumerated() {
      guard places.updateValue(place, forKey: fragment.name) == nil else { throw .duplicateFragment(fragment.name) }
    }
    // For each fragment, those that spread it, and how many that it spreads are not sorted yet.
    var users = fragments.map { _ in [Int]() }
    var open = fragments.map { _ in 0 }
    for (place, fragment) in fragments.enumerated() {
      for used in Set(Self.spreads(in: fragment.selectionSet).compactMap { places[$0] }) {
        users[used].append(place)
        open[place] += 1
      }
    }
    var sorted = open.indices.filter { open[$0] == 0 }
    var next = 0
    while next < sorted.count {
      for user in users[sorted[next]] {
        open[user] -= 1
        if open[user] == 0 { sorted.append(user) }
      }
      next += 1
    }
    if let place = open.firstIndex(where: { $0 > 0 }) { throw .cycle(fragments[place].name) }
    self.fragments = sorted.map { fragments[$0] }
  }

  private static func spreads(in selections: [GraphQLDocument.Selection]) -> [String] {
    var names: [String] = []
    collect(selections, into: &names)
    return names
  }

  private static func collect(_ selections: [GraphQLDocument.Selection], into names: inout [String]) {
    for selection in selections {
      switch selection {
      case .field(let field): collect(field.selectionSet, into: &names)
      case .inlineFragment(let fragment): collect(fragment.selectionSet, into: &names)
      case .fragmentSpread(let spread): names.append(spread.name)
      }
    }
  }
}
