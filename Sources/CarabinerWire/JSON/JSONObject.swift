/// The members of a JSON object, in the order they were written.
public struct JSONObject: Sendable {
  /// A name and its value.
  public typealias Member = (key: String, value: JSONValue)

  /// From this many members on, names are looked up in an index.
  private static let indexThreshold = 12

  private var storage: [Member] = []
  private var index: [String: Int]?

  /// An object without members.
  public init() {}

  /// These members; of two with one name the last wins, in the place of the first.
  public init(_ members: some Sequence<Member>) {
    for (key, value) in members { self[key] = value }
  }

  /// The members, in order.
  public var members: [Member] { storage }

  /// The names, in order.
  public var keys: [String] { storage.map(\.key) }

  /// The value of a member; setting nil removes it.
  public subscript(key: String) -> JSONValue? {
    get { position(of: key).map { storage[$0].value } }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): storage[position].value = value
      case (nil, let value?): append(key, value)
      case (let position?, nil):
        storage.remove(at: position)
        rebuildIndex()
      case (nil, nil): break
      }
    }
  }

  /// Whether there is a member of this name.
  public func contains(_ key: String) -> Bool { position(of: key) != nil }

  private func position(of key: String) -> Int? {
    if let index { return index[key] }
    return storage.firstIndex { $0.key == key }
  }

  private mutating func append(_ key: String, _ value: JSONValue) {
    storage.append((key, value))
    if index != nil {
      index?[key] = storage.count - 1
    } else if storage.count >= Self.indexThreshold {
      rebuildIndex()
    }
  }

  private mutating func rebuildIndex() {
    guard storage.count >= Self.indexThreshold else { return index = nil }
    index = Dictionary(storage.enumerated().map { ($1.key, $0) }) { $1 }
  }
}

extension JSONObject: Hashable {
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.storage.count == right.storage.count && left.storage.allSatisfy { right[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(storage.count)
    for key in storage.map(\.key).sorted() { hasher.combine(key) }
  }
}

extension JSONObject: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { storage.count }
  public subscript(position: Int) -> Member { storage[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.map { (key: $0.0, value: $0.1) })
  }
}
