internal import CarabinerWire

/// The header fields of a request or response. Names are case-insensitive; order and duplicates are kept.
///
/// The fields are stored as the bytes of a message, with an index. Strings are created on demand, because most fields are only
/// passed on.
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

  /// The names and values of all fields, and where each of them ends. One array, because a message is copied from stage to stage.
  /// The names and values are at the front, in order and without separators. Their ends are at the back, from the last byte on, as
  /// numbers of eight bytes.
  private var memory: [UInt8] = []
  /// How many bytes the names and values have.
  package private(set) var byteCount = 0
  /// The number of fields.
  public private(set) var count = 0
  /// Whether a value may contain bytes that are not UTF-8, as a peer sent them. They are passed on unchanged. A string of the value
  /// has replacement characters in their place.
  package private(set) var hasOtherBytes = false

  /// Room for most messages, which saves the steps of a growing array.
  private static let usualMemory = 512
  private static let numberBytes = 8

  /// Creates an empty list.
  public init() {}

  /// Creates a list of fields.
  public init(_ fields: [Field]) {
    reserve(fields.count, bytes: 0)
    for field in fields { add(name: field.name, value: field.value) }
  }

  /// All fields in order.
  public var fields: [Field] {
    get { map(\.self) }
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
    var values: [String] = []
    for index in indices where isName(name, at: index) { values.append(text(valueRange(at: index))) }
    return values
  }

  /// Whether there is a header with this name.
  package func contains(name: String) -> Bool { firstIndex(of: name) != nil }

  /// The elements of a header whose value is a list, in order, of all its fields (RFC 9110, 5.6.1).
  package func elements(of name: String) -> [Substring] {
    values(for: name).flatMap { $0.split(separator: ",").map(\.trimmed) }
  }

  /// Adds a field and keeps existing fields of the same name.
  public mutating func add(name: String, value: String) { append(name.utf8Span.span, value.utf8Span.span) }

  /// Removes every field of this name.
  public mutating func remove(_ name: String) { remove(name.utf8Span.span) }

  /// Replaces fields by those of `other` with the same name, and adds the rest.
  public mutating func replace(with other: HTTPHeaders) {
    if isEmpty {
      self = other
      return
    }
    let names = other.bytes
    for index in other.indices { remove(names.span.extracting(other.nameRange(at: index))) }
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
  /// The memory with the names and values. Only the first ``byteCount`` bytes belong to fields.
  package var bytes: [UInt8] { memory }

  /// The place of a field's name in ``bytes``.
  package func nameRange(at index: Int) -> Range<Int> {
    precondition(index >= 0 && index < count, "there is no such field")
    return (index == 0 ? 0 : number(2 * index - 1))..<number(2 * index)
  }

  /// The place of a field's value in ``bytes``.
  package func valueRange(at index: Int) -> Range<Int> {
    precondition(index >= 0 && index < count, "there is no such field")
    return number(2 * index)..<number(2 * index + 1)
  }

  /// The value of a field.
  package func value(at index: Int) -> String { text(valueRange(at: index)) }

  /// The index of the first field of a name at or after `start`; nil if there is none.
  package func firstIndex(of name: String, from start: Int = 0) -> Int? { firstIndex(of: name.utf8Span.span, from: start) }

  /// Makes room for more fields.
  ///
  /// - Parameter bytes: The number of bytes of their names and values, if known.
  @inline(__always) package mutating func reserve(_ more: Int, bytes: Int) {
    if memory.count - byteCount - 2 * count * Self.numberBytes < bytes + 2 * more * Self.numberBytes { grow(more, bytes) }
  }

  /// Adds a field of another list, and keeps existing fields of the same name.
  package mutating func append(fieldOf other: HTTPHeaders, at index: Int) {
    let bytes = other.memory.span
    append(bytes.extracting(other.nameRange(at: index)), bytes.extracting(other.valueRange(at: index)))
    hasOtherBytes = hasOtherBytes || other.hasOtherBytes
  }

  /// Adds a field and keeps existing fields of the same name. Both texts must be UTF-8.
  package mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    reserve(1, bytes: name.count + value.count)
    let (start, nameEnd) = (byteCount, byteCount + name.count)
    let end = nameEnd + value.count
    let place = memory.count - (2 * count + 2) * Self.numberBytes
    unsafe memory.withUnsafeMutableBytes { memory in
      guard let base = memory.baseAddress else { return }
      unsafe name.withUnsafeBytes { unsafe Self.copy($0, to: base + start) }
      unsafe value.withUnsafeBytes { unsafe Self.copy($0, to: base + nameEnd) }
      unsafe (base + place).storeBytes(of: end, as: Int.self)
      unsafe (base + place + Self.numberBytes).storeBytes(of: nameEnd, as: Int.self)
    }
    byteCount = end
    count += 1
  }

  /// Adds fields as a peer sent them. Names are tokens, and values may have bytes that are not UTF-8.
  ///
  /// - Parameter field: Returns the places of a name and its value in the bytes.
  package mutating func append(
    received bytes: Span<UInt8>, count more: Int, _ field: (_ index: Int) -> (name: Range<Int>, value: Range<Int>)
  ) {
    reserve(more, bytes: bytes.count)
    for index in 0..<more {
      let (name, value) = field(index)
      append(bytes.extracting(name), bytes.extracting(value))
    }
    if !bytes.isASCII { hasOtherBytes = hasOtherBytes || !bytes.isUTF8 }
  }

  /// Adds a field as a peer sent it. The name is a token, and the value may have bytes that are not UTF-8.
  package mutating func append(received name: Span<UInt8>, _ value: Span<UInt8>) {
    append(name, value)
    if !value.isASCII { hasOtherBytes = hasOtherBytes || !value.isUTF8 }
  }

  /// The same fields, for readers that require UTF-8. Bytes that are not are replaced.
  package var repaired: HTTPHeaders { hasOtherBytes ? HTTPHeaders(fields) : self }

  /// Adds all fields of another list, and keeps existing fields of the same names.
  package mutating func append(contentsOf other: HTTPHeaders) {
    reserve(other.count, bytes: other.byteCount)
    let (start, numbers) = (byteCount, 2 * other.count)
    let firstPlace = memory.count - (2 * count + 1) * Self.numberBytes
    unsafe memory.withUnsafeMutableBytes { memory in
      guard let base = memory.baseAddress else { return }
      unsafe other.memory.withUnsafeBytes { bytes in
        unsafe Self.copy(UnsafeRawBufferPointer(rebasing: bytes[..<other.byteCount]), to: base + start)
      }
      for index in 0..<numbers {
        unsafe (base + firstPlace - index * Self.numberBytes).storeBytes(of: start + other.number(index), as: Int.self)
      }
    }
    byteCount += other.byteCount
    count += other.count
    hasOtherBytes = hasOtherBytes || other.hasOtherBytes
  }

  @inline(__always) private static func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
    if let base = bytes.baseAddress { unsafe target.copyMemory(from: base, byteCount: bytes.count) }
  }

  /// Replaces all fields of a name by one, in the place of the first. Both texts must be UTF-8.
  package mutating func set(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard let first = firstIndex(of: name) else { return append(name, value) }
    self = without(name, from: first + 1, replacing: first, by: value)
  }

  /// Removes every field of a name.
  package mutating func remove(_ name: Span<UInt8>) {
    guard let first = firstIndex(of: name) else { return }
    self = without(name, from: first, replacing: nil, by: name)
  }

  /// Removes all fields, and keeps the memory for others.
  package mutating func removeAllKeepingMemory() {
    byteCount = 0
    count = 0
    hasOtherBytes = false
  }

  /// How many bytes are kept for names, values and numbers.
  package var memoryCount: Int { memory.count }

  /// A number of the index.
  @inline(__always) private func number(_ place: Int) -> Int {
    unsafe memory.span.bytes.unsafeLoadUnaligned(fromByteOffset: memory.count - (place + 1) * Self.numberBytes, as: Int.self)
  }

  @inline(never) private mutating func grow(_ fields: Int, _ bytes: Int) {
    let index = 2 * count * Self.numberBytes
    let needed = byteCount + index + bytes + 2 * fields * Self.numberBytes
    // Without `Swift.`, `max` would be the member of the collection.
    var larger = [UInt8](repeating: 0, count: Swift.max(needed, 2 * memory.count, Self.usualMemory))
    unsafe larger.withUnsafeMutableBytes { larger in
      guard let base = larger.baseAddress else { return }
      unsafe memory.withUnsafeBytes { old in
        unsafe Self.copy(UnsafeRawBufferPointer(rebasing: old[..<byteCount]), to: base)
        unsafe Self.copy(UnsafeRawBufferPointer(rebasing: old[(old.count - index)...]), to: base + larger.count - index)
      }
    }
    memory = larger
  }

  /// The fields except those of a name at or after an index.
  ///
  /// - Parameter place: The field that gets another value.
  private func without(_ name: Span<UInt8>, from start: Int, replacing place: Int?, by value: Span<UInt8>) -> HTTPHeaders {
    var kept = HTTPHeaders()
    kept.reserve(count, bytes: byteCount + value.count)
    kept.hasOtherBytes = hasOtherBytes
    let all = memory.span
    for index in 0..<count where index < start || !isName(name, at: index) {
      let old = all.extracting(nameRange(at: index))
      if index == place { kept.append(old, value) } else { kept.append(old, all.extracting(valueRange(at: index))) }
    }
    return kept
  }

  private func firstIndex(of name: Span<UInt8>, from first: Int = 0) -> Int? {
    precondition(first >= 0, "there is no such field")
    guard first < count else { return nil }
    let bytes = memory.span
    var start = first == 0 ? 0 : number(2 * first - 1)
    // The numbers of a field are beside each other, from the back. Reading them with the checks of `number(_:)` would take longer than
    // the comparison.
    var place = memory.count - (2 * first + 2) * Self.numberBytes
    for index in first..<count {
      let nameEnd = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place + Self.numberBytes, as: Int.self)
      if nameEnd - start == name.count, bytes.extracting(start..<nameEnd).isEqualIgnoringCase(name) { return index }
      start = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: Int.self)
      place -= 2 * Self.numberBytes
    }
    return nil
  }

  private func isName(_ name: Span<UInt8>, at index: Int) -> Bool {
    let range = nameRange(at: index)
    return range.count == name.count && memory.span.extracting(range).isEqualIgnoringCase(name)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: memory[range], as: UTF8.self) }
}

extension HTTPHeaders {
  public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
    guard left.count == right.count, left.byteCount == right.byteCount else { return false }
    for place in 0..<2 * left.count where left.number(place) != right.number(place) { return false }
    return left.memory[..<left.byteCount] == right.memory[..<right.byteCount]
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(memory[..<byteCount])
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name: name, value: value) }
  }
}

extension HTTPHeaders: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
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

extension Substring {
  /// The text without the spaces and tabs at its ends.
  fileprivate var trimmed: Substring {
    var rest = drop { $0 == " " || $0 == "\t" }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest
  }
}

extension UInt8 {
  package var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
