internal import CarabinerWire

/// The header fields of a request or response. Names are case-insensitive; order and duplicates are kept.
///
/// The fields are kept as the bytes of a message, with an index. Strings are made when they are asked for: most fields are only passed
/// on.
public struct HTTPHeaders: Sendable, Hashable {
  /// One header field.
  public struct Field: Sendable, Hashable {
    /// The name, in its original case. Compare it case-insensitively.
    public var name: String
    /// The value, without surrounding white space.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The place of a field: its name, and its value behind that.
  private struct Entry: Sendable, Hashable {
    var start: Int
    var nameEnd: Int
    var end: Int

    func moved(by distance: Int) -> Entry { Entry(start: start + distance, nameEnd: nameEnd + distance, end: end + distance) }
  }

  /// The names and values of all fields in order, without anything between them, in UTF-8.
  package private(set) var bytes: [UInt8] = []
  private var entries: [Entry] = []

  // Room for the fields of most messages, which saves the steps of growing arrays.
  private static let usualCount = 12
  private static let usualBytes = 384

  /// Creates an empty list.
  public init() {}

  /// Creates a list of fields.
  public init(_ fields: [Field]) {
    reserve(fields.count, bytes: 0)
    for field in fields { add(name: field.name, value: field.value) }
  }

  /// All fields in order.
  public var fields: [Field] {
    get { entries.indices.map { self[$0] } }
    set { self = HTTPHeaders(newValue) }
  }

  /// The first value of a header. Setting it replaces all fields of this name; setting nil removes them.
  public subscript(name: String) -> String? {
    get { firstIndex(of: name).map { text(valueRange(at: $0)) } }
    set {
      guard let newValue else { return remove(name) }
      set(name.utf8Span.span, newValue.utf8Span.span)
    }
  }

  /// All values of a header, in order.
  public func values(for name: String) -> [String] {
    let name = name.utf8Span.span
    return entries.filter { isName(name, of: $0) }.map { text($0.nameEnd..<$0.end) }
  }

  /// Adds a field and keeps existing fields of the same name.
  public mutating func add(name: String, value: String) { append(name.utf8Span.span, value.utf8Span.span) }

  /// Removes every field of this name.
  public mutating func remove(_ name: String) { remove(name.utf8Span.span, from: 0) }

  /// Replaces fields by those of `other` with the same name, and adds the rest.
  public mutating func replace(with other: HTTPHeaders) {
    guard !isEmpty else { return self = other }
    let names = other.bytes.span
    for index in other.indices { remove(names.extracting(other.nameRange(at: index)), from: 0) }
    append(contentsOf: other)
  }

  /// The fields as a dictionary; values of one name are joined with a comma, as RFC 9110 reads them.
  public var dictionary: [String: String] {
    var result: [String: String] = [:]
    for field in self {
      let key = result.keys.first { $0.isSameHeaderName(as: field.name) } ?? field.name
      result[key] = result[key].map { "\($0), \(field.value)" } ?? field.value
    }
    return result
  }
}

// MARK: Bytes

extension HTTPHeaders {
  /// The place of a field's name in ``bytes``.
  package func nameRange(at index: Int) -> Range<Int> { entries[index].start..<entries[index].nameEnd }

  /// The place of a field's value in ``bytes``.
  package func valueRange(at index: Int) -> Range<Int> { entries[index].nameEnd..<entries[index].end }

  /// The index of the first field of a name; nil if there is none.
  package func firstIndex(of name: String) -> Int? { firstIndex(of: name.utf8Span.span, from: 0) }

  /// Makes room for more fields.
  ///
  /// - Parameter more: The number of bytes of their names and values, if known.
  package mutating func reserve(_ count: Int, bytes more: Int) {
    entries.reserveCapacity(entries.count + count)
    if more > 0 { bytes.reserveCapacity(bytes.count + more) }
  }

  /// Adds a field and keeps existing fields of the same name. Both texts must be UTF-8.
  package mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    if entries.isEmpty { prepare(name.count + value.count) }
    let start = bytes.count
    append(name, value, count: name.count + value.count)
    entries.append(Entry(start: start, nameEnd: start + name.count, end: bytes.count))
  }

  /// Appends bytes without the general way of arrays, which takes several times as long.
  private mutating func append(_ first: Span<UInt8>, _ second: Span<UInt8>, count: Int) {
    bytes.append(addingCapacity: count) { room in
      unsafe room.withUnsafeMutableBufferPointer { room, written in
        let room = UnsafeMutableRawBufferPointer(room)
        unsafe first.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[first.count...])
        unsafe second.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
        written = count
      }
    }
  }

  /// Adds all fields of another list, and keeps existing fields of the same names.
  package mutating func append(contentsOf other: HTTPHeaders) {
    if entries.isEmpty { prepare(other.bytes.count) }
    let start = bytes.count
    let more = other.bytes.span
    append(more, more.extracting(first: 0), count: more.count)
    for entry in other.entries { entries.append(entry.moved(by: start)) }
  }

  /// Replaces all fields of a name by one, in the place of the first. Both texts must be UTF-8.
  package mutating func set(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard let first = firstIndex(of: name, from: 0) else { return append(name, value) }
    remove(name, from: first + 1)
    let old = valueRange(at: first)
    unsafe value.withUnsafeBufferPointer { unsafe bytes.replaceSubrange(old, with: $0) }
    entries[first].end = old.lowerBound + value.count
    let distance = value.count - old.count
    guard distance != 0 else { return }
    for index in entries.indices.dropFirst(first + 1) { entries[index] = entries[index].moved(by: distance) }
  }

  /// Removes every field of a name, at or behind an index.
  package mutating func remove(_ name: Span<UInt8>, from start: Int) {
    guard firstIndex(of: name, from: start) != nil else { return }
    self = removing(name, from: start)
  }

  private func removing(_ name: Span<UInt8>, from start: Int) -> HTTPHeaders {
    var kept = HTTPHeaders()
    kept.reserve(count, bytes: bytes.count)
    let all = bytes.span
    for (index, entry) in entries.enumerated() where index < start || !isName(name, of: entry) {
      kept.append(all.extracting(entry.start..<entry.nameEnd), all.extracting(entry.nameEnd..<entry.end))
    }
    return kept
  }

  /// Removes all fields, and keeps the memory for others.
  package mutating func removeAllKeepingMemory() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }

  private mutating func prepare(_ count: Int) {
    entries.reserveCapacity(Self.usualCount)
    bytes.reserveCapacity(Swift.max(Self.usualBytes, count))
  }

  private func firstIndex(of name: Span<UInt8>, from start: Int) -> Int? {
    var index = start
    while index < entries.count {
      if isName(name, of: entries[index]) { return index }
      index += 1
    }
    return nil
  }

  private func isName(_ name: Span<UInt8>, of entry: Entry) -> Bool {
    entry.nameEnd - entry.start == name.count
      && bytes.span.extracting(entry.start..<entry.nameEnd).isEqualIgnoringCase(name)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name: name, value: value) }
  }
}

extension HTTPHeaders: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { entries.count }
  public subscript(position: Int) -> Field {
    Field(name: text(nameRange(at: position)), value: text(valueRange(at: position)))
  }
}

extension String {
  /// Whether two header names are equal, ignoring the case of ASCII letters.
  package func isSameHeaderName(as other: String) -> Bool {
    // Most equal names have the same case, and most different names differ in length.
    if self == other { return true }
    guard utf8.count == other.utf8.count else { return false }
    return utf8Span.span.isEqualIgnoringCase(other.utf8Span.span)
  }
}

extension UInt8 {
  package var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
