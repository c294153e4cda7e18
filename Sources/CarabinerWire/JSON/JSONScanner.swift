/// Scans a text once according to RFC 8259 and reports its parts to a sink.
///
/// It neither recurses nor allocates. The offset is passed between functions rather than stored in `self`, so that the compiler
/// can keep it in a register.
struct JSONScanner {
  let limits: JSONLimits

  /// Scans a whole text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  func scan<Sink: JSONSink>(
    _ bytes: Span<UInt8>, into sink: inout Sink
  ) throws(JSONError) {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      throw .fault(.byteOrderMark, at: 0, "a byte order mark is not allowed")
    }
    var open = JSONContainerStack()
    var offset = Self.spaceEnd(from: 0, in: bytes)
    while true {
      guard offset < bytes.count else { throw .end(at: offset) }
      let first = bytes[offset]
      if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
        let kind = first == UInt8(ascii: "{") ? JSONContainer.object : .array
        guard open.depth < limits.maximumDepth else { throw tooDeep(at: offset) }
        open.push(kind)
        sink.begin(kind, at: offset)
        offset = Self.spaceEnd(from: offset &+ 1, in: bytes)
        guard offset < bytes.count else { throw .end(at: offset) }
        if bytes[offset] != Self.close(of: kind) {
          if kind == .object { offset = try member(from: offset, in: bytes, into: &sink) }
          continue
        }
      } else {
        offset = try scalar(first, from: offset, in: bytes, into: &sink)
      }
      if try ending(&offset, &open, in: bytes, into: &sink) { return }
    }
  }

  /// Moves from the end of a value to the beginning of the next. Returns true if there is none.
  @inline(always) private func ending<Sink: JSONSink>(
    _ offset: inout Int, _ open: inout JSONContainerStack, in bytes: Span<UInt8>, into sink: inout Sink
  ) throws(JSONError) -> Bool {
    while open.depth > 0 {
      offset = Self.spaceEnd(from: offset, in: bytes)
      guard offset < bytes.count else { throw .end(at: offset) }
      let kind = open.innermost
      if bytes[offset] == UInt8(ascii: ",") {
        offset = Self.spaceEnd(from: offset &+ 1, in: bytes)
        if kind == .object { offset = try member(from: offset, in: bytes, into: &sink) }
        return false
      }
      guard bytes[offset] == Self.close(of: kind) else {
        throw kind == .object
          ? .fault(.unexpectedByte, at: offset, "a comma or the end of the object is missing")
          : .fault(.unexpectedByte, at: offset, "a comma or the end of the array is missing")
      }
      offset &+= 1
      open.pop()
      sink.end(kind, at: offset)
    }
    offset = Self.spaceEnd(from: offset, in: bytes)
    guard offset == bytes.count else {
      throw .fault(.trailingBytes, at: offset, "something follows the end of the value")
    }
    return true
  }

  /// Reads the name of a member and the colon. Returns the offset of its value.
  @inline(always) private func member<Sink: JSONSink>(
    from start: Int, in bytes: Span<UInt8>, into sink: inout Sink
  ) throws(JSONError) -> Int {
    guard start < bytes.count else { throw .end(at: start) }
    guard bytes[start] == UInt8(ascii: "\"") else {
      throw .fault(.unexpectedByte, at: start, "a member name in quotes is missing")
    }
    let name = try Self.string(from: start, in: bytes)
    sink.key(name, in: bytes)
    let colon = Self.spaceEnd(from: name.range.upperBound &+ 1, in: bytes)
    guard colon < bytes.count else { throw .end(at: colon) }
    guard bytes[colon] == UInt8(ascii: ":") else {
      throw .fault(.unexpectedByte, at: colon, "a colon after the member name is missing")
    }
    return Self.spaceEnd(from: colon &+ 1, in: bytes)
  }

  /// Reads a scalar value. Returns the offset after it.
  @inline(always) private func scalar<Sink: JSONSink>(
    _ first: UInt8, from start: Int, in bytes: Span<UInt8>, into sink: inout Sink
  ) throws(JSONError) -> Int {
    let end: Int
    let scalar: JSONScalar
    switch first {
    case UInt8(ascii: "\""):
      let text = try Self.string(from: start, in: bytes)
      (end, scalar) = (text.range.upperBound &+ 1, .string(text))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      (end, scalar) = (try Self.numberEnd(from: start, in: bytes), .number)
    // The arrays contain the words without their first letters.
    case UInt8(ascii: "t"):
      (end, scalar) = (try Self.wordEnd([0x72, 0x75, 0x65], from: start, in: bytes), .bool(true))
    case UInt8(ascii: "f"):
      (end, scalar) = (try Self.wordEnd([0x61, 0x6C, 0x73, 0x65], from: start, in: bytes), .bool(false))
    case UInt8(ascii: "n"):
      (end, scalar) = (try Self.wordEnd([0x75, 0x6C, 0x6C], from: start, in: bytes), .null)
    default: throw .fault(.unexpectedByte, at: start, "no value begins like this")
    }
    unsafe sink.scalar(scalar, at: Range(uncheckedBounds: (start, end)), in: bytes)
    return end
  }

  /// The end of the word that begins at `start` and has these letters after the first.
  @inline(always) private static func wordEnd<let count: Int>(
    _ letters: InlineArray<count, UInt8>, from start: Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> Int {
    for place in letters.indices {
      guard start + 1 + place < bytes.count else { throw .end(at: bytes.count) }
      guard bytes[start + 1 + place] == letters[place] else {
        throw .fault(.unexpectedByte, at: start, "no value begins like this")
      }
    }
    return start + 1 + count
  }

  /// The end of the white space that may begin at `start`.
  @inline(always) private static func spaceEnd(from start: Int, in bytes: Span<UInt8>) -> Int {
    var offset = start
    // The offset is not negative, and the loop compares it with the end.
    while offset < bytes.count, case let byte = unsafe bytes[unchecked: offset], byte <= 0x20 {
      switch byte {
      case 0x20, 0x0A, 0x0D, 0x09: offset &+= 1
      default: return offset
      }
    }
    return offset
  }

  private static func close(of kind: JSONContainer) -> UInt8 {
    kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  @inline(never) private func tooDeep(at offset: Int) -> JSONError {
    JSONError(.tooDeep, at: offset, "arrays and objects are nested deeper than \(limits.maximumDepth)")
  }
}
