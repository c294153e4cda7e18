/// Where the members of a JSON object are, without building a tree of it.
///
/// The whole text is checked on the way.
public struct JSONMembers: Sendable {
  /// Whether the text is an object at all.
  public let isObject: Bool
  /// How many members at the top had a name that stood before.
  public let duplicates: Int
  private let members: [(name: String, range: Range<Int>)]

  /// Checks a text and locates the members of the object it is.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(locating bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var scanner = JSONScanner(limits: limits)
    var sink = LocatingSink()
    try scanner.scan(bytes, into: &sink)
    isObject = sink.isObject
    var members: [(name: String, range: Range<Int>)] = []
    members.reserveCapacity(sink.members.count)
    for (key, range) in sink.members {
      let name = key.string(in: bytes)
      if let first = members.firstIndex(where: { $0.name == name }) {
        members[first].range = range
      } else {
        members.append((name, range))
      }
    }
    duplicates = sink.members.count - members.count
    self.members = members
  }

  /// The names of the members, in order.
  public var names: [String] { members.map(\.name) }

  /// Where the value of a member stands in the text, as byte offsets; nil if there is no such member.
  public func range(of name: String) -> Range<Int>? {
    members.first { $0.name == name }?.range
  }
}

/// Notes where the values of the outermost object begin and end.
private struct LocatingSink: JSONSink {
  var isObject = false
  var members: [(JSONStringRange, Range<Int>)] = []
  private var depth = 0
  private var name: JSONStringRange?
  private var begin = 0

  mutating func scalar(_ scalar: JSONScalar) {}
  mutating func key(_ text: JSONStringRange) { if depth == 1 { name = text } }
  mutating func beginArray() { depth += 1 }
  mutating func endArray() { depth -= 1 }
  mutating func beginObject() {
    if depth == 0 { isObject = true }
    depth += 1
  }
  mutating func endObject() { depth -= 1 }
  mutating func valueBegins(at offset: Int) { if depth == 1 { begin = offset } }
  mutating func valueEnds(at offset: Int) {
    guard depth == 1, let name else { return }
    members.append((name, begin..<offset))
    self.name = nil
  }
}
