extension GraphQLLexer {
  /// Reads a string in single quotes and returns its value.
  mutating func string() throws(GraphQLSyntaxError) -> String {
    let start = offset
    let plainEnd = plainStringEnd()
    if plainEnd < bytes.count, bytes[plainEnd] == UInt8(ascii: "\"") {
      advance(by: plainEnd + 1 - start)
      return text(at: start + 1..<plainEnd)
    }
    var text: [UInt8] = []
    advance(by: 1)
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        advance(by: 1)
        return String(text: text.span)
      case UInt8(ascii: "\\"): try escape(into: &text)
      case 0x0A, 0x0D:
        throw error(.unterminatedString, "a string ends with its line; use \"\"\" for many lines", at: start)
      default: try copyCharacter(into: &text)
      }
    }
    throw error(.unterminatedString, "a string has no closing quote", at: start)
  }

  /// The end of the unescaped bytes of the string that begins here.
  private func plainStringEnd() -> Int {
    let bytes = bytes.span
    var place = offset + 1
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0A, 0x0D, 0x80...: return place
      default: place += 1
      }
    }
    return place
  }

  /// Reads a block string and returns its value without the common indentation.
  mutating func blockString() throws(GraphQLSyntaxError) -> String {
    let (start, quote) = (offset, UInt8(ascii: "\""))
    var lines: [[UInt8]] = [[]]
    advance(by: 3)
    while let byte = peek() {
      switch byte {
      case quote where peek(1) == quote && peek(2) == quote:
        advance(by: 3)
        return Self.withoutIndentation(lines)
      case UInt8(ascii: "\\") where peek(1) == quote && peek(2) == quote && peek(3) == quote:
        lines[lines.count - 1] += [quote, quote, quote]
        advance(by: 4)
      case 0x0A, 0x0D:
        lines.append([])
        advance(by: byte == 0x0D && peek(1) == 0x0A ? 2 : 1)
      default: try copyCharacter(into: &lines[lines.count - 1])
      }
    }
    throw error(.unterminatedString, "a block string has no closing \"\"\"", at: start)
  }

  /// BlockStringValue of the specification.
  private static func withoutIndentation(_ lines: [[UInt8]]) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let indents = lines.map { line in line.firstIndex { !isSpace($0) } }
    guard let first = indents.firstIndex(where: { $0 != nil }),
      let last = indents.lastIndex(where: { $0 != nil })
    else { return "" }
    let common = indents.dropFirst().compactMap(\.self).min() ?? 0
    let kept = (first...last).map { $0 == 0 ? lines[$0][...] : lines[$0].dropFirst(common) }
    return String(text: Array(kept.joined(separator: [0x0A])).span)
  }

  private mutating func copyCharacter(into text: inout [UInt8]) throws(GraphQLSyntaxError) {
    let length = try characterLength(at: offset)
    for place in offset..<offset + length { text.append(bytes[place]) }
    advance(by: length)
  }

  private mutating func escape(into text: inout [UInt8]) throws(GraphQLSyntaxError) {
    let start = offset
    advance(by: 2)
    switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
    case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      guard let scalar = peek() == UInt8(ascii: "{") ? bracedScalar() : fixedScalar() else {
        throw error(.invalidEscape, "\\u is not followed by the number of a character", at: start)
      }
      text.append(contentsOf: scalar.utf8)
    default: throw error(.invalidEscape, "a backslash in a string begins no known escape", at: start)
    }
  }

  /// `{1F600}`
  private mutating func bracedScalar() -> Unicode.Scalar? {
    var value: UInt32 = 0
    // A number with more than eight digits is not valid, even with leading zeros.
    for count in 0..<9 {
      advance(by: 1)
      if peek() == UInt8(ascii: "}"), count > 0 {
        advance(by: 1)
        return Unicode.Scalar(value)
      }
      guard count < 8, let digit = peek()?.hexadecimalValue else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return nil
  }

  /// `00e9`, or two halves of a surrogate pair: `d83d\ude00`
  private mutating func fixedScalar() -> Unicode.Scalar? {
    guard let unit = codeUnit() else { return nil }
    guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) }
    guard peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") else { return nil }
    advance(by: 2)
    guard let second = codeUnit(), second & 0xFC00 == 0xDC00 else { return nil }
    return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF)
  }

  private mutating func codeUnit() -> UInt32? {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = peek()?.hexadecimalValue else { return nil }
      unit = unit << 4 | UInt32(digit)
      advance(by: 1)
    }
    return unit
  }
}
