internal import Carabiner

/// How long keys live, in milliseconds: the longest time for which a value of their type may be valid.
struct StoreLives: Sendable {
  private let policy: CacheKeyPolicy
  private let otherwise: Int
  private let timeToLive: Int
  private let byType: [String: Int]

  init(_ policy: CacheKeyPolicy, timeToLive: Duration) {
    self.policy = policy
    self.timeToLive = Int(timeToLive / .milliseconds(1))
    let otherwise = policy.defaultMaximumAge.map { Int($0 * 1000) } ?? self.timeToLive
    self.otherwise = otherwise
    var byType: [String: Int] = [:]
    for (name, age) in policy.maximumAges {
      let type = String(name.prefix { $0 != "." })
      // Fields without an age of their own have that of the type.
      let rest = policy.maximumAges[type].map { Int($0 * 1000) } ?? otherwise
      byType[type] = max(byType[type] ?? rest, Int(age * 1000))
    }
    self.byType = byType
  }

  func life(of record: Record) -> Int {
    guard !byType.isEmpty else { return max(1, otherwise) }
    let type =
      record["__typename"].map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) }
      ?? String(record.key.prefix { $0 != ":" })
    return max(1, byType[type] ?? otherwise)
  }

  func life(ofField field: String, root: String) -> Int {
    let type = RootRecord(rawValue: root)?.typeName ?? ""
    return max(1, policy.maximumAge(of: field.prefix { $0 != "(" }, type: type).map { Int($0) } ?? timeToLive)
  }
}
