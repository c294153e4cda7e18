/// Finds the first fault of a text according to RFC 8259, byte by byte. `CJSON` is faster and only says whether there is one.
///
/// It neither recurses nor allocates.
package struct JSONScanner {
  private let limits: JSONLimits

  package init(limits: JSONLimits = JSONLimits()) { self.limits = limits }

  /// The first fault of a text; nil if it is JSON.
  package func fault(in bytes: Span<UInt8>) -> JSONError? {
    do { try check(bytes) } catch { return error }
    return nil
  }

  /// The fault of a text that `CJSON` refused.
  func refusal(of bytes: Span<UInt8>) -> JSONError {
    fault(in: bytes) ?? .fault(.unexpectedByte, at: 0, "the text is not JSON")
  }

  private func check(_ bytes: Span<UInt8>) throws(JSONError) {
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
        offset = Self.spaceEnd(from: offset + 1, in: bytes)
        guard offset < bytes.count else { throw .end(at: offset) }
        if bytes[offset] != Self.close(of: kind) {
          if kind == .object { offset = try Self.valueStart(ofMemberFrom: offset, in: bytes) }
          continue
        }
      } else {
        offset = try Self.scalarEnd(from: offset, in: bytes)
      }
      if try Self.isEnd(&offset, &open, in: bytes) { return }
    }
  }

  /// Moves from the end of a value to the beginning of the next. Returns true if there is none.
  private static func isEnd(
    _ offset: inout Int, _ open: inout JSONContainerStack, in bytes: Span<UInt8>
  ) throws(JSONError) -> Bool {
    while open.depth > 0 {
      offset = spaceEnd(from: offset, in: bytes)
      guard offset < bytes.count else { throw .end(at: offset) }
      let kind = open.innermost
      if bytes[offset] == UInt8(ascii: ",") {
        offset = spaceEnd(from: offset + 1, in: bytes)
        if kind == .object { offset = try valueStart(ofMemberFrom: offset, in: bytes) }
        return false
      }
      guard bytes[offset] == close(of: kind) else {
        throw kind == .object
          ? .fault(.unexpectedByte, at: offset, "a comma or the end of the object is missing")
          : .fault(.unexpectedByte, at: offset, "a comma or the end of the array is missing")
      }
      offset += 1
      open.pop()
    }
    offset = spaceEnd(from: offset, in: bytes)
    guard offset == bytes.count else {
      throw .fault(.trailingBytes, at: offset, "something follows the end of the value")
    }
    return true
  }

  /// The offset of the value of the member whose name begins at `start`.
  private static func valueStart(ofMemberFrom start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
    guard start < bytes.count else { throw .end(at: start) }
    guard bytes[start] == UInt8(ascii: "\"") else {
      throw .fault(.unexpectedByte, at: start, "a member name in quotes is missing")
    }
    let colon = spaceEnd(from: try stringEnd(from: start, in: bytes), in: bytes)
    guard colon < bytes.count else { throw .end(at: colon) }
    guard bytes[colon] == UInt8(ascii: ":") else {
      throw .fault(.unexpectedByte, at: colon, "a colon after the member name is missing")
    }
    return spaceEnd(from: colon + 1, in: bytes)
  }

  /// The end of the value that begins at `start` and is not a container.
  private static func scalarEnd(from start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
    switch bytes[start] {
    case UInt8(ascii: "\""): try stringEnd(from: start, in: bytes)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try numberEnd(from: start, in: bytes)
    // The arrays contain the words without their first letters.
    case UInt8(ascii: "t"): try wordEnd([0x72, 0x75, 0x65], from: start, in: bytes)
    case UInt8(ascii: "f"): try wordEnd([0x61, 0x6C, 0x73, 0x65], from: start, in: bytes)
    case UInt8(ascii: "n"): try wordEnd([0x75, 0x6C, 0x6C], from: start, in: bytes)
    default: throw .fault(.unexpectedByte, at: start, "no value begins like this")
    }
  }

  /// The end of the word that begins at `start` and has these letters after the first.
  private static func wordEnd<let count: Int>(
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
  private static func spaceEnd(from start: Int, in bytes: Span<UInt8>) -> Int {
    var offset = start
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return offset
      }
    }
    return offset
  }

  private static func close(of kind: JSONContainer) -> UInt8 {
    kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  private func tooDeep(at offset: Int) -> JSONError {
    JSONError(.tooDeep, at: offset, "arrays and objects are nested deeper than \(limits.maximumDepth)")
  }
}
