extension JSONValue {
  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    self = try JSONTree(parsing: bytes, limits: limits).value
  }

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: bytes.span, limits: limits)
  }

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }
}

/// A parsed text and what was odd about it.
public struct JSONTree: Sendable {
  /// The value.
  public let value: JSONValue
  /// How many members had a name that stood before in their object.
  public let duplicates: Int

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var scanner = JSONScanner(limits: limits)
    var sink = TreeSink()
    // Scalars are cut out of the text after the scan, which knows that they are well-formed.
    try scanner.scan(bytes, into: &sink)
    var builder = TreeBuilder()
    for event in sink.events { builder.add(event, of: bytes) }
    value = builder.root
    duplicates = builder.duplicates
  }
}

/// Notes what the scanner sees.
private struct TreeSink: JSONSink {
  enum Event {
    case scalar(JSONScalar)
    case key(JSONStringRange)
    case beginArray
    case endArray
    case beginObject
    case endObject
  }

  var events: [Event] = []

  mutating func scalar(_ scalar: JSONScalar) { events.append(.scalar(scalar)) }
  mutating func key(_ text: JSONStringRange) { events.append(.key(text)) }
  mutating func beginArray() { events.append(.beginArray) }
  mutating func endArray() { events.append(.endArray) }
  mutating func beginObject() { events.append(.beginObject) }
  mutating func endObject() { events.append(.endObject) }
  mutating func valueBegins(at offset: Int) {}
  mutating func valueEnds(at offset: Int) {}
}

/// Builds a tree from what the scanner saw.
private struct TreeBuilder {
  private enum Container {
    case array([JSONValue])
    case object(JSONObject)
  }

  private(set) var root = JSONValue.null
  private(set) var duplicates = 0
  private var open: [Container] = []
  private var keys: [String] = []

  mutating func add(_ event: TreeSink.Event, of bytes: Span<UInt8>) {
    switch event {
    case .scalar(.null): place(.null)
    case .scalar(.bool(let value)): place(.bool(value))
    case .scalar(.number(let range)): place(.number(JSONNumber(checked: String(copying: range, of: bytes))))
    case .scalar(.string(let text)): place(.string(text.string(in: bytes)))
    case .key(let text): keys.append(text.string(in: bytes))
    case .beginArray: open.append(.array([]))
    case .beginObject: open.append(.object([:]))
    case .endArray, .endObject:
      switch open.removeLast() {
      case .array(let elements): place(.array(elements))
      case .object(let object): place(.object(object))
      }
    }
  }

  private mutating func place(_ value: JSONValue) {
    switch open.popLast() {
    case nil: root = value
    case .array(var elements):
      elements.append(value)
      open.append(.array(elements))
    case .object(var object):
      let key = keys.removeLast()
      if object.contains(key) { duplicates += 1 }
      object[key] = value
      open.append(.object(object))
    }
  }
}

extension String {
  init(copying range: Range<Int>, of bytes: Span<UInt8>) {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    for offset in range { copy.append(bytes[offset]) }
    self.init(decoding: copy, as: UTF8.self)
  }
}

extension JSONStringRange {
  /// The string itself, escapes resolved; the scanner has checked them.
  func string(in bytes: Span<UInt8>) -> String {
    guard hasEscapes else { return String(copying: range, of: bytes) }
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var offset = range.lowerBound
    while offset < range.upperBound {
      guard bytes[offset] == UInt8(ascii: "\\") else {
        text.append(bytes[offset])
        offset += 1
        continue
      }
      let escape = bytes[offset + 1]
      offset += 2
      switch escape {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = UInt32(codeUnit(at: offset, in: bytes))
        offset += 4
        if (0xD800..<0xDC00).contains(scalar) {
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (UInt32(codeUnit(at: offset + 2, in: bytes)) - 0xDC00)
          offset += 6
        }
        text.append(contentsOf: String(Unicode.Scalar(scalar).map(Character.init) ?? "\u{FFFD}").utf8)
      default: text.append(escape)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func codeUnit(at offset: Int, in bytes: Span<UInt8>) -> UInt16 {
    (0..<4).reduce(0) { $0 << 4 | UInt16(bytes[offset + $1].hexadecimalValue ?? 0) }
  }
}
