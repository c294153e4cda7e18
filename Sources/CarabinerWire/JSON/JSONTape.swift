internal import CJSON

/// The places of all values of a text in a flat list, for decoding without a tree.
///
/// A container precedes its parts, and a member's name precedes its value. Each entry stores the index of the next entry after
/// its parts.
package struct JSONTape: Sendable {
  /// The kind of an entry, in the order of `CJSON_kind`. It has no raw values, because comparing them would be slower.
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

  /// The place of a value or name, with the layout of `CJSON_entry`.
  package struct Entry: Sendable {
    /// The kind of the entry.
    package let kind: Kind
    /// The start of the text; for a string or a name, without the quote.
    package let start: Int32
    /// The end of the text; for a string or a name, without the quote.
    package let end: Int32
    /// The entry that follows this and its parts.
    package let next: Int32

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
    entries = unsafe bytes.withUnsafeBufferPointer { unsafe Self.entries(of: $0, limits) }
    if entries.isEmpty { throw JSONScanner(limits: limits).refusal(of: bytes) }
  }

  /// The entries of a text; none if it is not valid.
  private static func entries(of text: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) -> [Entry] {
    // Memory for all entries at once. An array that is made with a capacity would look up the type of its memory.
    let most = unsafe CJSON_mostEntries(text.baseAddress, text.count)
    var entries: [Entry] = []
    entries.reserveCapacity(most)
    entries.append(addingCapacity: most) { entries in
      unsafe entries.withUnsafeMutableBufferPointer { room, count in
        unsafe room.withMemoryRebound(to: CJSON_entry.self) { room in
          count = max(0, unsafe CJSON_record(text.baseAddress, text.count, limits.maximumDepth, room.baseAddress, most))
        }
      }
    }
    return entries
  }

  /// The decoded string of an entry of kind `string` or `escapedString`, or of the name of a member.
  @inline(__always) package static func string(_ entry: Entry, in bytes: Span<UInt8>) -> String {
    JSONStringRange(range: Int(entry.start)..<Int(entry.end), hasEscapes: entry.kind == .escapedString).string(in: bytes)
  }
}
