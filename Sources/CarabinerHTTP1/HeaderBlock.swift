internal import CarabinerWire

/// The headers of a message as the bytes that came, with an index of names and values.
///
/// No text is made unless ``name(at:)`` or ``value(at:)`` is called. A block that is used for one message after the other allocates
/// nothing once it is large enough.
public struct HeaderBlock: Sendable {
  /// A header: offsets into the bytes of the block.
  struct Entry: Sendable {
    var name: Range<UInt32>
    var value: Range<UInt32>
    var known: FieldName?
  }

  /// The bytes of the head, the first line included.
  public internal(set) var bytes: [UInt8] = []
  var entries: [Entry] = []

  /// Creates an empty block.
  public init() {}

  /// The number of headers.
  public var count: Int { entries.count }

  /// The place of a name in ``bytes``.
  public func nameRange(at index: Int) -> Range<Int> { Range(entries[index].name) }

  /// The place of a value in ``bytes``, without the spaces around it.
  public func valueRange(at index: Int) -> Range<Int> { Range(entries[index].value) }

  /// The number of a name; nil if it has none.
  public func known(at index: Int) -> FieldName? { entries[index].known }

  /// The name as it was sent.
  public func name(at index: Int) -> String { String(decoding: bytes[nameRange(at: index)], as: UTF8.self) }

  /// The value; bytes that are not UTF-8 are replaced.
  public func value(at index: Int) -> String { String(decoding: bytes[valueRange(at: index)], as: UTF8.self) }

  /// The index of the first header with this name at or after `start`; nil if there is none.
  public func firstIndex(of name: FieldName, from start: Int = 0) -> Int? {
    var index = start
    while index < entries.count {
      if entries[index].known == name { return index }
      index += 1
    }
    return nil
  }

  /// The index of the first header with this name at or after `start`; nil if there is none. The case of letters is ignored.
  public func firstIndex(of name: String, from start: Int = 0) -> Int? {
    entries.indices.dropFirst(start).first {
      bytes.span.extracting(nameRange(at: $0)).isEqualIgnoringCase(name.utf8Span.span)
    }
  }

  /// Whether a header's value, a list with commas, has this element. The case of letters is ignored.
  ///
  /// - Parameter element: A token in lower case.
  public func list(_ name: FieldName, contains element: StaticString) -> Bool {
    var next = firstIndex(of: name)
    while let index = next {
      if list(in: valueRange(at: index), contains: element) { return true }
      next = firstIndex(of: name, from: index + 1)
    }
    return false
  }

  private func list(in range: Range<Int>, contains element: StaticString) -> Bool {
    let bytes = bytes.span
    var start = range.lowerBound
    while start < range.upperBound {
      var end = start
      while end < range.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
      if bytes.isEqual(at: bytes.trimmed(start..<end), to: element) { return true }
      start = end + 1
    }
    return false
  }

  /// Removes everything, and keeps the memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }
}

extension HeaderBlock.Entry {
  init(name: Range<Int>, value: Range<Int>, known: FieldName?) {
    self.init(
      name: UInt32(truncatingIfNeeded: name.lowerBound)..<UInt32(truncatingIfNeeded: name.upperBound),
      value: UInt32(truncatingIfNeeded: value.lowerBound)..<UInt32(truncatingIfNeeded: value.upperBound), known: known)
  }
}

extension Range<Int> {
  fileprivate init(_ offsets: Range<UInt32>) { self = Int(offsets.lowerBound)..<Int(offsets.upperBound) }
}

extension Span<UInt8> {
  /// A range without the spaces and tabs at its ends.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, Byte.isSpace(self[start]) { start &+= 1 }
    while end > start, Byte.isSpace(self[end &- 1]) { end &-= 1 }
    return start..<end
  }
}
