/// The number of members that are read of one object. A fragment that is reached in several ways is read several times, so fragments could
/// make it exponential.
struct ReadingCost {
  /// The most members of one object.
  static let maximum = 100_000

  private let fragments: [String: ObjectShape]
  private var known: [ObjectIdentifier: Int] = [:]

  /// Creates a table.
  ///
  /// - Parameter fragments: The types of fragments by their Swift names.
  init(fragments: [String: ObjectShape]) { self.fragments = fragments }

  /// The most members that are read of an object of a type, or of the types inside it.
  mutating func highest(in shape: ObjectShape) -> Int {
    var highest = cost(of: shape)
    // Objects inside of views have their own types only if the views select more.
    for inner in shape.children + shape.views.map(\.shape) + shape.deferred.map(\.shape) {
      highest = max(highest, self.highest(in: inner))
    }
    return highest
  }

  private mutating func cost(of shape: ObjectShape) -> Int {
    if let cost = known[ObjectIdentifier(shape)] { return cost }
    known[ObjectIdentifier(shape)] = 0
    var cost = 1 + shape.fields.count
    for inner in shape.views.map(\.shape) + shape.deferred.map(\.shape) { cost += self.cost(of: inner) }
    for fragment in shape.fragments where fragment.forwardedTo == nil {
      if let inner = fragments[fragment.name] { cost += self.cost(of: inner) }
    }
    // Without the limit, the sum of some costs would overflow.
    known[ObjectIdentifier(shape)] = min(cost, Self.maximum + 1)
    return min(cost, Self.maximum + 1)
  }
}
