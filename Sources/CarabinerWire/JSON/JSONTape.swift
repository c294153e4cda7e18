/// The places of all values of a text in one flat list, for reading it without a tree.
///
/// A container comes before its parts, a member's name before its value; each entry knows where the one behind it and its
/// parts is.
package struct JSONTape: Sendable {
  /// The kind of an entry. It has no raw values, because comparing them would be slower.
  package enum Kind: Sendable {
    case null
    /// A number or a truth value.
    case scalar
    case string
    /// A string with escapes in it.
    case escapedString
    case object
    case array
  }

  /// A place.
  package struct Entry: Sendable {
    /// The kind of the entry.
    package let kind: Kind
    /// Where the text begins; that of a string or a name without its quote.
    package let start: Int32
    /// Where the text ends; that of a string or a name without its quote.
    package fileprivate(set) var end: Int32
    /// The entry that follows this and its parts.
    package fileprivate(set) var next: Int32

    /// The range of the value, with the quotes of a string.
    @inlinable package var range: Range<Int> {
      switch kind {
      case .string, .escapedString: Int(start) - 1..<Int(end) + 1
      case .null, .scalar, .object, .array: Int(start)..<Int(end)
      }
    }
  }

  /// The places, in the order of the text.
  package let entries: [Entry]

  /// Checks a text and notes where its values are.
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

/// Notes the places of all values; put into the scanner's loop, as the calls would take as long as the notes.
private struct TapeSink: JSONSink {
  private(set) var entries: [JSONTape.Entry] = []
  /// The innermost open container; as long as one is open, its `next` is the one around it.
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
