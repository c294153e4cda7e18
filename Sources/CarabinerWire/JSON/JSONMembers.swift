internal import CJSON

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
    let (kind, duplicates, members) = unsafe bytes.withUnsafeBufferPointer { text in
      var found = unsafe FoundMembers(text: text)
      let kind = unsafe withUnsafeMutablePointer(to: &found) { found in
        unsafe CJSON_locate(
          text.baseAddress, text.count, limits.maximumDepth,
          { found, member in unsafe found?.assumingMemoryBound(to: FoundMembers.self).pointee.add(member) }, found)
      }
      return (kind, found.duplicates, found.members)
    }
    if kind < 0 { throw JSONScanner(limits: limits).refusal(of: bytes) }
    isObject = kind == 1
    self.duplicates = duplicates
    self.members = members
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

/// The members that `CJSON` has found so far. It adds them while the text is there.
@safe private struct FoundMembers {
  private let text: UnsafeBufferPointer<UInt8>
  private(set) var duplicates = 0
  /// A response has `data`, `errors` and `extensions`, and a part of one has few more members.
  private(set) var members = OrderedMembers<Range<Int>>(capacity: 4)

  init(text: UnsafeBufferPointer<UInt8>) { unsafe self.text = text }

  mutating func add(_ member: CJSON_member) {
    let bytes = unsafe Span(_unsafeElements: text)
    var place = member.nameStart
    while place < member.nameEnd, bytes[place] != UInt8(ascii: "\\") { place += 1 }
    let name = JSONStringRange(range: member.nameStart..<member.nameEnd, hasEscapes: place < member.nameEnd)
    let text = name.string(in: bytes)
    if members.set(member.valueStart..<member.valueEnd, for: text) { duplicates += 1 }
  }
}
