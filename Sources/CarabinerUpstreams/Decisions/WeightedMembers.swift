internal import Glibc

/// Endpoints with weights, from which one is drawn.
struct WeightedMembers: Sendable {
  /// The numbers of the endpoints.
  let members: [Int]
  private let weights: [Int]
  /// For each member, the sum of the weights up to and including its own.
  private let bounds: [Int]
  /// The step of ``turn(_:)``, coprime to the sum of the weights.
  private let stride: Int

  /// The sum of all weights.
  private var total: Int { bounds.last ?? 0 }

  /// Members with weights of at least 1.
  init(_ members: [(number: Int, weight: Int)]) {
    self.members = members.map(\.number)
    weights = members.map(\.weight)
    bounds = members.reduce(into: []) { $0.append(($0.last ?? 0) + $1.weight) }
    stride = Self.stride(of: bounds.last ?? 0)
  }

  /// The place of the member to which a point from 0 up to the sum of the weights belongs.
  private func place(of point: Int) -> Int {
    var (low, high) = (0, bounds.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if point < bounds[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// One member; nil if there is none.
  func draw(using numbers: inout some RandomNumberGenerator) -> Int? {
    guard total > 0 else { return nil }
    return members[place(of: Int.random(in: 0..<total, using: &numbers))]
  }

  /// Two different members; the second is nil if there is only one.
  func drawTwo(using numbers: inout some RandomNumberGenerator) -> (first: Int, second: Int?)? {
    guard total > 0 else { return nil }
    let first = place(of: Int.random(in: 0..<total, using: &numbers))
    guard members.count > 1 else { return (members[first], nil) }
    // The points of the first member are left out.
    var point = Int.random(in: 0..<(total - weights[first]), using: &numbers)
    if point >= bounds[first] - weights[first] { point += weights[first] }
    return (members[first], members[place(of: point)])
  }

  /// The member for a turn. In a number of turns that equals the sum of the weights, each member has as many turns as its weight, evenly
  /// spread.
  func turn(_ count: Int) -> Int? {
    guard total > 0 else { return nil }
    return members[place(of: (count % total) * stride % total)]
  }

  /// The member of a key: the one with the highest score (rendezvous hashing). If a member is removed, only its own keys get other members.
  ///
  /// - Parameter identity: Returns a number of a member that does not change if other members are added or removed.
  func rendezvous(_ key: UInt64, identity: (Int) -> UInt64) -> Int? {
    var best: (member: Int, score: Double)?
    for (member, weight) in zip(members, weights) {
      let score = Self.score(StableHash.mixed(key ^ identity(member)), weight: weight)
      if best.map({ score > $0.score }) ?? true { best = (member, score) }
    }
    return best?.member
  }

  /// A score that is the highest with a probability in proportion to the weight.
  private static func score(_ hash: UInt64, weight: Int) -> Double {
    let uniform = (Double(hash >> 11) + 0.5) / Double(1 << 53 as UInt64)
    return -Double(weight) / log(uniform)
  }

  private static func stride(of total: Int) -> Int {
    guard total > 2 else { return 1 }
    // The golden ratio spreads the turns of a member best.
    var stride = max(1, Int(Double(total) * 0.618))
    while divisor(stride, total) > 1 { stride -= 1 }
    return stride
  }

  private static func divisor(_ left: Int, _ right: Int) -> Int {
    var (left, right) = (left, right)
    while right > 0 { (left, right) = (right, left % right) }
    return left
  }
}
