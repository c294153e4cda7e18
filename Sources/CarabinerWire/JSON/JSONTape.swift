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
      switch kind {
      case .string, .escapedString: Int(start) - 1..<Int(end) + 1
      case .null, .scalar, .object, .array: Int(start)..<Int(end)
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
    var sink = TapeSink(capacity: bytes.count / 8 + 8)
    try JSONScanner(limits: limits).scan(bytes, into: &sink)
    entries = sink.entries
  }

  /// The decoded string of an entry of kind `string` or `escapedString`, or of the name of a member.
  package static func string(_ entry: Entry, in bytes: Span<UInt8>) -> String {
    JSONStringRange(range: Int(entry.start)..<Int(entry.end), hasEscapes: entry.kind == .escapedString).string(in: bytes)
  }
}

/// Records the places of all values. It is inlined into the scanner's loop, because calls would take as long as the work itself.
private struct TapeSink: JSONSink {
  private(set) var entries: [JSONTape.Entry] = []
  /// The innermost open container. While a container is open, its `next` is the index of the enclosing one.
  private var innermost: Int32 = -1

  init(capacity: Int) { entries.reserveCapacity(capacity) }

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

  mutating func begin(_ kind: JSONContainer, at offset: Int) {
    let place = Int32(truncatingIfNeeded: entries.count)
    append(kind == .object ? .object : .array, offset..<offset, next: innermost)
    innermost = place
  }

  mutating func end(_ kind: JSONContainer, at offset: Int) {
    let place = Int(innermost)
    innermost = entries[place].next
    entries[place].end = Int32(truncatingIfNeeded: offset)
    entries[place].next = Int32(truncatingIfNeeded: entries.count)
  }

  @inline(always) private mutating func append(_ kind: JSONTape.Kind, _ range: Range<Int>) {
    append(kind, range, next: Int32(truncatingIfNeeded: entries.count &+ 1))
  }

  @inline(always) private mutating func append(_ kind: JSONTape.Kind, _ range: Range<Int>, next: Int32) {
    entries.append(
      JSONTape.Entry(
        kind: kind, start: Int32(truncatingIfNeeded: range.lowerBound), end: Int32(truncatingIfNeeded: range.upperBound),
        next: next))
  }
}
