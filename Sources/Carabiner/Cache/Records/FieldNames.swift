internal import Synchronization

/// The names of a record's fields, in order.
struct FieldNames: Sendable {
  /// The number of names from which on an index is used.
  private static var indexThreshold: Int { 24 }
  private static let lastIdentity = Atomic<UInt64>(0)

  private(set) var list: [String]
  private var index: [String: Int]?
  /// The identity of these names and their copies. It shows that two records have the same names without a comparison; nil after
  /// a name was added or removed.
  private(set) var identity: UInt64?
  /// The size of the names in bytes if no other record shares them; 0 for names with an identity, which are usually shared.
  private(set) var ownBytes = 0

  init(_ list: [String]) {
    self.list = list
    identity = Self.lastIdentity.add(1, ordering: .relaxed).newValue
    buildIndex()
  }

  /// Creates an empty list.
  init() { list = [] }

  /// The position of a name.
  ///
  /// - Parameter hint: Its position if these names were made for the selection set of the caller.
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
