/// What a scanner tells about a text as it goes through it.
///
/// Ranges are byte offsets. The scanner is the only place that knows the grammar; what is made of a text is a sink's business.
protocol JSONSink {
  mutating func scalar(_ scalar: JSONScalar)
  mutating func key(_ text: JSONStringRange)
  mutating func beginArray()
  mutating func endArray()
  mutating func beginObject()
  mutating func endObject()
  /// Before and after every value, at these offsets.
  mutating func valueBegins(at offset: Int)
  mutating func valueEnds(at offset: Int)
}

/// A value without parts.
enum JSONScalar {
  case null
  case bool(Bool)
  case number(Range<Int>)
  case string(JSONStringRange)
}

/// Where a string's contents are, without the quotes.
struct JSONStringRange {
  let range: Range<Int>
  let hasEscapes: Bool
}

/// Goes once through a text by the rules of RFC 8259 and tells a sink what it sees.
struct JSONScanner {
  private let limits: JSONLimits
  private var offset = 0
  private var depth = 0

  init(limits: JSONLimits) { self.limits = limits }

  /// Scans a whole text.
  mutating func scan<Sink: JSONSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(JSONError) {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      throw JSONError(.byteOrderMark, at: 0, "a byte order mark is not allowed")
    }
    skipSpace(bytes)
    try value(bytes, &sink)
    skipSpace(bytes)
    guard offset == bytes.count else {
      throw JSONError(.trailingBytes, at: offset, "something follows the end of the value")
    }
  }

  // MARK: Values

  private mutating func value<Sink: JSONSink>(_ bytes: Span<UInt8>, _ sink: inout Sink) throws(JSONError) {
    guard offset < bytes.count else { throw end() }
    sink.valueBegins(at: offset)
    switch bytes[offset] {
    case UInt8(ascii: "\""): sink.scalar(.string(try string(bytes)))
    case UInt8(ascii: "{"): try object(bytes, &sink)
    case UInt8(ascii: "["): try array(bytes, &sink)
    case UInt8(ascii: "-"), 0x30...0x39: sink.scalar(.number(try number(bytes)))
    case UInt8(ascii: "t"):
      try literal("true", bytes)
      sink.scalar(.bool(true))
    case UInt8(ascii: "f"):
      try literal("false", bytes)
      sink.scalar(.bool(false))
    case UInt8(ascii: "n"):
      try literal("null", bytes)
      sink.scalar(.null)
    default: throw JSONError(.unexpectedByte, at: offset, "no value begins like this")
    }
    sink.valueEnds(at: offset)
  }

  private mutating func object<Sink: JSONSink>(_ bytes: Span<UInt8>, _ sink: inout Sink) throws(JSONError) {
    try descend()
    sink.beginObject()
    skipSpace(bytes)
    if take(UInt8(ascii: "}"), bytes) {
      depth -= 1
      return sink.endObject()
    }
    while true {
      guard offset < bytes.count else { throw end() }
      guard bytes[offset] == UInt8(ascii: "\"") else {
        throw JSONError(.unexpectedByte, at: offset, "a member name in quotes is missing")
      }
      sink.key(try string(bytes))
      skipSpace(bytes)
      try expect(UInt8(ascii: ":"), "a colon after the member name is missing", bytes)
      skipSpace(bytes)
      try value(bytes, &sink)
      skipSpace(bytes)
      if take(UInt8(ascii: "}"), bytes) {
        depth -= 1
        return sink.endObject()
      }
      try expect(UInt8(ascii: ","), "a comma or the end of the object is missing", bytes)
      skipSpace(bytes)
    }
  }

  private mutating func array<Sink: JSONSink>(_ bytes: Span<UInt8>, _ sink: inout Sink) throws(JSONError) {
    try descend()
    sink.beginArray()
    skipSpace(bytes)
    if take(UInt8(ascii: "]"), bytes) {
      depth -= 1
      return sink.endArray()
    }
    while true {
      try value(bytes, &sink)
      skipSpace(bytes)
      if take(UInt8(ascii: "]"), bytes) {
        depth -= 1
        return sink.endArray()
      }
      try expect(UInt8(ascii: ","), "a comma or the end of the array is missing", bytes)
      skipSpace(bytes)
    }
  }

  private mutating func descend() throws(JSONError) {
    guard depth < limits.maximumDepth else {
      throw JSONError(.tooDeep, at: offset, "arrays and objects are nested deeper than \(limits.maximumDepth)")
    }
    depth += 1
    offset += 1
  }

  private mutating func literal(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
    let start = offset
    for byte in "\(word)".utf8 {
      guard offset < bytes.count else { throw end() }
      guard bytes[offset] == byte else { throw JSONError(.unexpectedByte, at: start, "expected \(word)") }
      offset += 1
    }
  }

  // MARK: Numbers

  private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
    let start = offset
    _ = take(UInt8(ascii: "-"), bytes)
    if take(UInt8(ascii: "0"), bytes) {
      if offset < bytes.count, isDigit(bytes[offset]) {
        throw JSONError(.invalidNumber, at: start, "a number begins with a superfluous zero")
      }
    } else {
      try digits(bytes, start)
    }
    if take(UInt8(ascii: "."), bytes) { try digits(bytes, start) }
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
      try digits(bytes, start)
    }
    return start..<offset
  }

  private mutating func digits(_ bytes: Span<UInt8>, _ start: Int) throws(JSONError) {
    let first = offset
    while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    guard offset > first else {
      if offset == bytes.count { throw end() }
      throw JSONError(.invalidNumber, at: start, "a number lacks a digit")
    }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  // MARK: Strings

  private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> JSONStringRange {
    offset += 1
    let start = offset
    var hasEscapes = false
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return JSONStringRange(range: start..<(offset - 1), hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try escape(bytes)
      case 0..<0x20:
        throw JSONError(.controlCharacter, at: offset, "a control character in a string must be escaped")
      case 0x20..<0x80:
        offset += 1
      default:
        offset += try UTF8Sequence.length(at: offset, in: bytes)
      }
    }
    throw end()
  }

  private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) {
    let start = offset
    offset += 1
    guard offset < bytes.count else { throw end() }
    switch bytes[offset] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      offset += 1
    case UInt8(ascii: "u"):
      offset += 1
      let first = try hexadecimal(bytes, start)
      switch first {
      case 0xD800..<0xDC00:
        guard offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start, "half of a surrogate pair stands alone") }
        offset += 2
        guard case 0xDC00..<0xE000 = try hexadecimal(bytes, start) else {
          throw JSONError(.loneSurrogate, at: start, "half of a surrogate pair stands alone")
        }
      case 0xDC00..<0xE000:
        throw JSONError(.loneSurrogate, at: start, "half of a surrogate pair stands alone")
      default: break
      }
    default: throw JSONError(.invalidEscape, at: start, "no such escape")
    }
  }

  private mutating func hexadecimal(_ bytes: Span<UInt8>, _ start: Int) throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard offset < bytes.count else { throw end() }
      guard let digit = bytes[offset].hexadecimalValue else {
        throw JSONError(.invalidEscape, at: start, "\\u needs four hexadecimal digits")
      }
      value = value << 4 | UInt16(digit)
      offset += 1
    }
    return value
  }

  // MARK: Bytes

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  private mutating func expect(_ byte: UInt8, _ message: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
    guard offset < bytes.count else { throw end() }
    guard bytes[offset] == byte else { throw JSONError(.unexpectedByte, at: offset, "\(message)") }
    offset += 1
  }

  private func end() -> JSONError {
    JSONError(.unexpectedEnd, at: offset, "the text ends in the middle of a value")
  }
}

extension UInt8 {
  var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }
}
