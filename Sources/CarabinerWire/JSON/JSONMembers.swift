/// The places of the members of a JSON object, found without building a tree.
///
/// The whole text is validated by the scanner that also builds trees.
public struct JSONMembers: Sendable {
  /// Whether the text is an object.
  public let isObject: Bool
  /// The number of members at the top level that repeat a name.
  public let duplicates: Int
  private let members: OrderedMembers<Range<Int>>

  /// Validates a text and locates the members of its object.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(locating bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var sink = LocatingSink()
    try JSONScanner(limits: limits).scan(bytes, into: &sink)
    isObject = sink.isObject
    duplicates = sink.duplicates
    members = sink.members
  }

  /// Locates the members of the object of a tape.
  package init(_ tape: JSONTape, in bytes: Span<UInt8>) {
    var members = OrderedMembers<Range<Int>>(capacity: 4)
    var duplicates = 0
    if case .object? = tape.entries.first?.kind {
      isObject = true
      var place = 1
      while place < tape.entries.count {
        let (name, value) = (tape.entries[place], tape.entries[place + 1])
        if members.set(value.range, for: JSONTape.string(name, in: bytes)) { duplicates += 1 }
        place = Int(value.next)
      }
    } else {
      isObject = false
    }
    self.members = members
    self.duplicates = duplicates
  }

  /// The names of the members, in order.
  public var names: [String] { members.members.map(\.key) }

  /// The byte offsets of the value of a member; nil if there is no such member.
  public func range(of name: String) -> Range<Int>? {
    members.position(of: name).map { members[$0] }
  }
}

/// Records the ranges of the values of the outermost object.
private struct LocatingSink: JSONSink {
  private(set) var isObject = false
  private(set) var duplicates = 0
  /// A response has `data`, `errors` and `extensions`, and a part of one has few more members.
  private(set) var members = OrderedMembers<Range<Int>>(capacity: 4)
  private var depth = 0
  private var name = ""
  private var start = 0

  @inline(always) mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>) {
    if depth == 1 { locate(range) }
  }

  @inline(always) mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>) {
    if depth == 1 { note(string, in: bytes) }
  }

  /// Not inlined into the scanner's loop, which sees the names of all depths.
  @inline(never) private mutating func note(_ string: JSONStringRange, in bytes: Span<UInt8>) { name = string.string(in: bytes) }

  mutating func begin(_ kind: JSONContainer, at offset: Int) {
    if depth == 0 { isObject = kind == .object }
    if depth == 1 { start = offset }
    depth += 1
  }

  mutating func end(_ kind: JSONContainer, at offset: Int) {
    depth -= 1
    if depth == 1 { locate(start..<offset) }
  }

  @inline(never) private mutating func locate(_ range: Range<Int>) {
    if isObject, members.set(range, for: name) { duplicates += 1 }
  }
}
