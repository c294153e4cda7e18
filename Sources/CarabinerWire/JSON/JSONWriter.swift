/// Writes JSON text.
public enum JSONWriter {
  /// Appends a string in quotes. Only characters that must be escaped are escaped.
  public static func appendString(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    // A closure, because `utf8Span` is a call that the compiler cannot inline. On Linux each string has such storage.
    let isPlain =
      unsafe string.utf8.withContiguousStorageIfAvailable { bytes in
        if unsafe needsEscapes(Span(_unsafeElements: bytes)) { return false }
        unsafe text.append(contentsOf: bytes)
        return true
      } ?? false
    if !isPlain { for byte in string.utf8 { appendEscaped(byte, to: &text) } }
    text.append(UInt8(ascii: "\""))
  }

  @inline(__always) private static func needsEscapes(_ bytes: Span<UInt8>) -> Bool {
    // The minimum of all bytes, and of all bytes with quotes and backslashes mapped to zero. Without early exit and branches, so
    // that the compiler can vectorise the loop.
    var (least, rest): (UInt8, UInt8) = (.max, .max)
    for offset in 0..<bytes.count {
      let byte = bytes[offset]
      least = min(least, byte)
      rest = min(rest, min(byte ^ UInt8(ascii: "\""), byte ^ UInt8(ascii: "\\")))
    }
    return least < 0x20 || rest == 0
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscaped(_ byte: UInt8, to text: inout [UInt8]) {
    guard isEscaped(byte) else { return text.append(byte) }
    text.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x0A: text.append(UInt8(ascii: "n"))
    case 0x0D: text.append(UInt8(ascii: "r"))
    case 0x09: text.append(UInt8(ascii: "t"))
    case 0x20...: text.append(byte)
    default:
      let digits = String(byte, radix: 16)
      text.append(contentsOf: (digits.utf8.count == 1 ? "u000" : "u00").utf8)
      text.append(contentsOf: digits.utf8)
    }
  }

  /// Appends a value as text.
  ///
  /// - Parameters:
  ///   - sortedKeys: Whether members are sorted by the code points of their names.
  ///   - indent: The number of spaces before the value if each part has a line of its own; nil for one line.
  package static func append(_ value: JSONValue, sortedKeys: Bool, indent: Int? = nil, to text: inout [UInt8]) {
    let inner = indent.map { $0 + 2 }
    switch value {
    case .null: text.append(contentsOf: "null".utf8)
    case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let number): text.append(contentsOf: number.lexeme.utf8)
    case .string(let string): appendString(string, to: &text)
    case .array(let elements):
      text.append(UInt8(ascii: "["))
      var isFirst = true
      for element in elements {
        beginPart(&isFirst, inner, to: &text)
        append(element, sortedKeys: sortedKeys, indent: inner, to: &text)
      }
      if !isFirst { appendLineBreak(indent, to: &text) }
      text.append(UInt8(ascii: "]"))
    case .object(let object):
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      for (key, value) in sortedKeys ? object.sortedByKey() : object {
        beginPart(&isFirst, inner, to: &text)
        appendString(key, to: &text)
        text.append(UInt8(ascii: ":"))
        if inner != nil { text.append(0x20) }
        append(value, sortedKeys: sortedKeys, indent: inner, to: &text)
      }
      if !isFirst { appendLineBreak(indent, to: &text) }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func beginPart(_ isFirst: inout Bool, _ indent: Int?, to text: inout [UInt8]) {
    if !isFirst { text.append(UInt8(ascii: ",")) }
    isFirst = false
    appendLineBreak(indent, to: &text)
  }

  private static func appendLineBreak(_ indent: Int?, to text: inout [UInt8]) {
    guard let indent else { return }
    text.append(0x0A)
    text.append(contentsOf: repeatElement(0x20, count: indent))
  }
}

extension JSONObject {
  /// The members sorted by the bytes of their names, which is also the order of their code points.
  fileprivate func sortedByKey() -> JSONObject {
    if count < 2 { return self }
    return JSONObject(sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as text.
  ///
  /// - Parameters:
  ///   - sortedKeys: Whether members are sorted by the code points of their names.
  ///   - pretty: Whether to write one element per line, indented by two spaces.
  public func serialized(sortedKeys: Bool = false, pretty: Bool = false) -> [UInt8] {
    var text: [UInt8] = []
    JSONWriter.append(self, sortedKeys: sortedKeys, indent: pretty ? 0 : nil, to: &text)
    return text
  }

  /// The value as compact text.
  public var description: String { String(decoding: serialized(), as: UTF8.self) }
}
