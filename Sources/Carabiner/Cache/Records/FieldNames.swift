internal import Synchronization

/// The names of a record's fields, in order.
struct FieldNames: Sendable {
  /// From this many names on they are looked up in an index.
  private static var indexThreshold: Int { 24 }
  private static let lastIdentity = Atomic<UInt64>(0)

  private(set) var list: [String]
  private var index: [String: Int]?
  /// The same for all copies of these names, so that records made of one selection set are seen to be alike without comparing
  /// names; nil once a name was added or removed.
  private(set) var identity: UInt64?
  /// How many bytes the names have if no other record shares them; 0 for names with an identity, which mostly are shared.
  private(set) var ownBytes = 0

  init(_ list: [String]) {
    self.list = list
    identity = Self.lastIdentity.add(1, ordering: .relaxed).newValue
    buildIndex()
  }

  /// No names.
  init() { list = [] }

  /// Where a name is.
  ///
  /// - Parameter hint: Where it is if these names were made for the selection set of the caller.
  func position(of name: String, hint: Int = 0) -> Int? {
    if hint < list.count, list[hint] == name { return hint }
    if let index { return index[name] }
    return list.firstIndex(of: name)
  }

  mutating func append(_ name: String) {
    disown()
    ownBytes += name.utf8.count
    list.append(name)
    if index == nil { buildIndex() } else { index?[name] = list.count - 1 }
  }

  mutating func remove(at position: Int) {
    disown()
    ownBytes -= list.remove(at: position).utf8.count
    buildIndex()
  }

  /// The names at some positions, in this order.
  func subset(_ positions: [Int]) -> FieldNames {
    var names = FieldNames()
    for position in positions {
      names.list.append(list[position])
      names.ownBytes += list[position].utf8.count
    }
    names.buildIndex()
    return names
  }

  private mutating func disown() {
    guard identity != nil else { return }
    identity = nil
    ownBytes = list.reduce(0) { $0 + $1.utf8.count }
  }

  private mutating func buildIndex() {
    index =
      list.count > Self.indexThreshold
      ? Dictionary(zip(list, list.indices), uniquingKeysWith: { first, _ in first }) : nil
  }
}
