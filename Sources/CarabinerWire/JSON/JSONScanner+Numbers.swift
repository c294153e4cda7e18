extension JSONScanner {
  /// The end of the number that begins at `start`.
  @inline(always) static func numberEnd(
    from start: Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> Int {
    var offset = start
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    if offset < bytes.count, bytes[offset] == UInt8(ascii: "0") {
      offset += 1
      if offset < bytes.count, isDigit(bytes[offset]) {
        throw .fault(.invalidNumber, at: start, "a number begins with a superfluous zero")
      }
    } else {
      offset = try digitsEnd(from: offset, of: start, in: bytes)
    }
    if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
      offset = try digitsEnd(from: offset + 1, of: start, in: bytes)
    }
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
        offset += 1
      }
      offset = try digitsEnd(from: offset, of: start, in: bytes)
    }
    return offset
  }

  @inline(always) private static func digitsEnd(
    from first: Int, of start: Int, in bytes: Span<UInt8>
  ) throws(JSONError) -> Int {
    var offset = first
    while offset < bytes.count, isDigit(bytes[offset]) { offset += 1 }
    guard offset > first else {
      throw offset == bytes.count
        ? .end(at: offset) : .fault(.invalidNumber, at: start, "a number lacks a digit")
    }
    return offset
  }

  @inline(always) private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
