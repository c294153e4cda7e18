/// The members of a JSON object, in their original order.
///
/// Names are equal if their bytes are equal. Two objects are equal if they have equal members, in any order.
public struct JSONObject: Sendable {
  /// A name and its value.
  public typealias Member = (key: String, value: JSONValue)

  private var storage = OrderedMembers<JSONValue>()

  /// Creates an empty object.
  public init() {}

  /// Creates an object. If a name is repeated, the last value is used, at the position of the first.
  public init(_ members: some Sequence<Member>) {
    for (key, value) in members { storage.set(value, for: key) }
  }

  init(_ storage: OrderedMembers<JSONValue>) { self.storage = storage }

  /// The members, in order.
  public var members: [Member] { map { $0 } }

  /// The names, in order.
  public var keys: [String] { storage.members.map(\.key) }

  /// The value of a member. Setting nil removes the member, in time proportional to the number of members.
  public subscript(key: String) -> JSONValue? {
    get { storage.position(of: key).map { storage[$0] } }
    set {
      if let newValue {
        storage.set(newValue, for: key)
      } else if let position = storage.position(of: key) {
        storage.remove(at: position)
      }
    }
  }

  /// Changes the value of a member in place; nil if there is no member of this name.
  mutating func change<Result, Failure: Error>(
    _ key: String, _ body: (inout JSONValue) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let position = storage.position(of: key) else { return nil }
    return try body(&storage[position])
  }

  /// Whether there is a member of this name.
  public func contains(_ key: String) -> Bool { storage.position(of: key) != nil }
}

extension JSONObject: Hashable {
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    // A sum does not depend on the order, as equality does not.
    hasher.combine(
      reduce(into: 0) { sum, member in
        var inner = Hasher()
        inner.combine(member.key)
        inner.combine(member.value)
        sum &+= inner.finalize()
      })
  }
}

extension JSONObject: RandomAccessCollection {
  /// The place of the first member.
  public var startIndex: Int { 0 }
  /// The place after the last member.
  public var endIndex: Int { storage.members.count }
  /// The member at a place.
  public subscript(position: Int) -> Member {
    let member = storage.members[position]
    return (member.key, member.value)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object. If a name is repeated, the last value is used.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.lazy.map { (key: $0.0, value: $0.1) })
  }
}
