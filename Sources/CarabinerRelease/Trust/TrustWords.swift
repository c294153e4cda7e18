/// The words of a line of a trust file. Blanks in double quotes separate none.
struct TrustWords {
  private var rest: ArraySlice<UInt8>

  init(_ line: ArraySlice<UInt8>) { rest = line }

  mutating func next() -> ArraySlice<UInt8>? {
    rest = rest.drop(while: Self.isBlank)
    guard !rest.isEmpty else { return nil }
    var isQuoted = false
    let end =
      rest.firstIndex { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return !isQuoted && Self.isBlank(byte)
      } ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
