/// Values by name, in the order in which the names first appeared.
///
/// Names are compared by their bytes, as in RFC 8259. `String` would treat two encodings of "é" as equal.
struct OrderedMembers<Value> {
  /// A name and its value. A struct, because arrays of tuples are released much more slowly.
  struct Member {
    let key: String
    var value: Value
  }

  /// From this number of members on, names are looked up in an index.
  private static var indexThreshold: Int { 12 }

  private(set) var members: [Member] = []
  private var index: [ExactName: Int]?

  /// Creates an empty list with a capacity.
  init(capacity: Int = 0) {
    if capacity > 0 { members.reserveCapacity(capacity) }
  }

  /// The position of a member.
  func position(of key: String) -> Int? {
    if let index { return index[ExactName(name: key)] }
    for position in members.indices where members[position].key.hasSameBytes(as: key) { return position }
    return nil
  }

  /// The value at a position that ``position(of:)`` gave.
  subscript(position: Int) -> Value {
    get { members[position].value }
    // Without `_modify`, a change in place would copy the value.
    _modify { yield &members[position].value }
  }

  /// Sets a member, in place if it exists. Returns whether it existed.
  @discardableResult
  mutating func set(_ value: Value, for key: String) -> Bool {
    if let position = position(of: key) {
      members[position].value = value
      return true
    }
    append(value, for: key)
    return false
  }

  /// Adds a member whose name is not used yet.
  mutating func append(_ value: Value, for key: String) {
    members.append(Member(key: key, value: value))
    if index != nil {
      index?[ExactName(name: key)] = members.count - 1
    } else if members.count >= Self.indexThreshold {
      rebuildIndex()
    }
  }

  /// Removes a member, in time proportional to the number of members.
  mutating func remove(at position: Int) {
    members.remove(at: position)
    rebuildIndex()
  }

  private mutating func rebuildIndex() {
    guard members.count >= Self.indexThreshold else {
      index = nil
      return
    }
    var index: [ExactName: Int] = [:]
    index.reserveCapacity(members.count)
    for (position, member) in members.enumerated() { index[ExactName(name: member.key)] = position }
    self.index = index
  }
}

extension OrderedMembers.Member: Sendable where Value: Sendable {}
extension OrderedMembers: Sendable where Value: Sendable {}

/// A name that is compared by its bytes.
struct ExactName: Hashable {
  let name: String

  static func == (left: ExactName, right: ExactName) -> Bool { left.name.hasSameBytes(as: right.name) }

  /// Hashes the bytes. `String` hashes its normal form, so a text could contain many different names with the same hash.
  func hash(into hasher: inout Hasher) {
    let bytes = name.utf8Span.span
    var offset = 0
    while offset &+ 8 <= bytes.count {
      hasher.combine(bytes.word(at: offset))
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset &+= 1
    }
    hasher.combine(rest)
    hasher.combine(bytes.count)
  }
}

extension String {
  /// Whether another string has the same bytes, not only canonically equivalent characters.
  func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && hasSameBytes(as: other.utf8Span.span)
  }

  /// Whether this string has these bytes.
  @inline(__always) func hasSameBytes(as other: Span<UInt8>) -> Bool {
    // A closure, because `utf8Span` is a call that the compiler cannot inline. On Linux each string has such storage.
    unsafe utf8.withContiguousStorageIfAvailable { unsafe Span(_unsafeElements: $0).hasSameBytes(as: other) }
      ?? false
  }
}

extension Span<UInt8> {
  /// Compares words, which overlap at the end.
  @inline(__always) func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else {
      if count >= 4 { return half(at: 0) == other.half(at: 0) && half(at: count &- 4) == other.half(at: count &- 4) }
      for offset in indices where self[offset] != other[offset] { return false }
      return true
    }
    var offset = 0
    while offset < count &- 8 {
      guard word(at: offset) == other.word(at: offset) else { return false }
      offset &+= 8
    }
    return word(at: count &- 8) == other.word(at: count &- 8)
  }
}
