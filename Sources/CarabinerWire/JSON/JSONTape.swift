/// The places of all values of a text in a flat list, for decoding without a tree.
///
/// A container precedes its parts, and a member's name precedes its value. Each entry stores the index of the next entry after
/// its parts.
package struct JSONTape: Sendable {
  /// The kind of an entry. It has no raw values, because comparing them would be slower.
  package enum Kind: Sendable {
    case null
    /// A number or a Boolean.
    case scalar
    case string
    /// A string with escapes in it.
    case escapedString
    case object
    case array
  }

  /// The place of a value or name.
  package struct Entry: Sendable {
    /// The kind of the entry.
    package let kind: Kind
    /// The start of the text; for a string or a name, without the quote.
    package let start: Int32
    /// The end of the text; for a string or a name, without the quote.
    package fileprivate(set) var end: Int32
    /// The entry that follows this and its parts.
    package fileprivate(set) var next: Int32

    /// The range of the value, including the quotes of a string.
    @inlinable package var range: Range<Int> {
      @inline(__always) get {
        switch kind {
        case .string, .escapedString: Int(start) - 1..<Int(end) + 1
        case .null, .scalar, .object, .array: Int(start)..<Int(end)
        }
      }
    }
  }

  /// The entries, in the order of the text.
  package let entries: [Entry]

  /// Validates a text and records the places of its values.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault; a text of 2 GiB or more is `tooDeep`.
  package init(scanning bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    guard bytes.count < Int(Int32.max) else { throw .fault(.tooDeep, at: 0, "the text is too large") }
    // Memory for all entries at once: an array that may grow is checked at each of them.
    let most = Self.mostEntries(in: bytes)
    var tape: [Entry] = []
    // Reserved before, because `append(addingCapacity:initializingWith:)` would make room for further entries too.
    tape.reserveCapacity(most)
    try tape.append(addingCapacity: most) { entries throws(JSONError) in
      try unsafe entries.withUnsafeMutableBufferPointer { room, count throws(JSONError) in
        var sink = unsafe TapeSink(room)
        defer { count = sink.count }
        try JSONScanner(limits: limits).scan(bytes, into: &sink)
      }
    }
    entries = tape
  }

  /// The number of bytes that are counted together.
  private static let block = 128

  /// The most entries that a text can have: one, and one for each byte that can precede a value or a name.
  private static func mostEntries(in bytes: Span<UInt8>) -> Int {
    var (count, offset) = (1, 0)
    while offset &+ block <= bytes.count {
      count &+= Int(openings(in: bytes.extracting(offset..<offset &+ block)))
      offset &+= block
    }
    return count &+ Int(openings(in: bytes.extracting(offset...)))
  }

  /// How many of at most ``block`` bytes are a comma, a colon, or the beginning of an array or object. The compiler vectorises it,
  /// because the sum has the size of a byte.
  @inline(__always) private static func openings(in bytes: Span<UInt8>) -> UInt8 {
    var count: UInt8 = 0
    for offset in bytes.indices {
      let byte = bytes[offset]
      let isComma: UInt8 = byte == UInt8(ascii: ",") ? 1 : 0
      let isColon: UInt8 = byte == UInt8(ascii: ":") ? 1 : 0
      let isContainer: UInt8 = byte | 0x20 == UInt8(ascii: "{") ? 1 : 0
      count &+= isComma | isColon | isContainer
    }
    return count
  }

  /// The decoded string of an entry of kind `string` or `escapedString`, or of the name of a member.
  @inline(__always) package static func string(_ entry: Entry, in bytes: Span<UInt8>) -> String {
    JSONStringRange(range: Int(entry.start)..<Int(entry.end), hasEscapes: entry.kind == .escapedString).string(in: bytes)
  }
}

/// Records the places of all values. It is inlined into the scanner's loop, because calls would take as long as the work itself.
@safe private struct TapeSink: JSONSink {
  /// Room for all entries, of which the first ``count`` are initialized.
  private let room: UnsafeMutablePointer<JSONTape.Entry>?
  private let capacity: Int
  private(set) var count = 0
  /// The innermost open container. While a container is open, its `next` is the index of the enclosing one.
  private var innermost: Int32 = -1

  init(_ room: UnsafeMutableBufferPointer<JSONTape.Entry>) {
    unsafe self.room = room.baseAddress
    capacity = room.count
  }

  @inline(always) mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>) {
    switch scalar {
    case .null: append(.null, range)
    case .bool, .number: append(.scalar, range)
    case .string(let text): append(text.hasEscapes ? .escapedString : .string, text.range)
    }
  }

  @inline(always) mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>) {
    append(string.hasEscapes ? .escapedString : .string, string.range)
  }

  @inline(always) mutating func begin(_ kind: JSONContainer, at offset: Int) {
    let place = Int32(truncatingIfNeeded: count)
    append(kind == .object ? .object : .array, offset..<offset, next: innermost)
    innermost = place
  }

  @inline(always) mutating func end(_ kind: JSONContainer, at offset: Int) {
    let place = Int(innermost)
    guard place >= 0, place < count, let room = unsafe room else { preconditionFailure("a container ends that never began") }
    innermost = unsafe room[place].next
    unsafe room[place].end = Int32(truncatingIfNeeded: offset)
    unsafe room[place].next = Int32(truncatingIfNeeded: count)
  }

  @inline(always) private mutating func append(_ kind: JSONTape.Kind, _ range: Range<Int>) {
    append(kind, range, next: Int32(truncatingIfNeeded: count &+ 1))
  }

  @inline(always) private mutating func append(_ kind: JSONTape.Kind, _ range: Range<Int>, next: Int32) {
    guard count < capacity, let room = unsafe room else { preconditionFailure("a tape has more entries than places for them") }
    let entry = JSONTape.Entry(
      kind: kind, start: Int32(truncatingIfNeeded: range.lowerBound), end: Int32(truncatingIfNeeded: range.upperBound),
      next: next)
    unsafe (room + count).initialize(to: entry)
    count &+= 1
  }
}
