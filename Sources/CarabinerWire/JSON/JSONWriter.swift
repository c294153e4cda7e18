/// Writes JSON text.
public enum JSONWriter {
  /// Appends a string in quotes, with what must be escaped escaped.
  public static func appendString(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""): text.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case UInt8(ascii: "\\"): text.append(contentsOf: [byte, byte])
      case 0x0A: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
      case 0x0D: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
      case 0x09: text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        text.append(contentsOf: "\\u00".utf8)
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }

  static func append(_ value: JSONValue, sortedKeys: Bool, indent: Int?, to text: inout [UInt8]) {
    switch value {
    case .null: text.append(contentsOf: "null".utf8)
    case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let number): text.append(contentsOf: number.lexeme.utf8)
    case .string(let string): appendString(string, to: &text)
    case .array(let elements):
      appendList(elements, "[", "]", indent, to: &text) { element, inner, text in
        append(element, sortedKeys: sortedKeys, indent: inner, to: &text)
      }
    case .object(let object):
      let members = sortedKeys ? object.members.sorted { $0.key < $1.key } : object.members
      appendList(members, "{", "}", indent, to: &text) { member, inner, text in
        appendString(member.key, to: &text)
        text.append(contentsOf: (inner == nil ? ":" : ": ").utf8)
        append(member.value, sortedKeys: sortedKeys, indent: inner, to: &text)
      }
    }
  }

  private static func appendList<Element>(
    _ elements: [Element], _ open: StaticString, _ close: StaticString, _ indent: Int?, to text: inout [UInt8],
    _ appendElement: (Element, Int?, inout [UInt8]) -> Void
  ) {
    text.append(contentsOf: "\(open)".utf8)
    let inner = indent.map { $0 + 2 }
    for (position, element) in elements.enumerated() {
      if position > 0 { text.append(UInt8(ascii: ",")) }
      appendLineBreak(inner, to: &text)
      appendElement(element, inner, &text)
    }
    if !elements.isEmpty { appendLineBreak(indent, to: &text) }
    text.append(contentsOf: "\(close)".utf8)
  }

  private static func appendLineBreak(_ indent: Int?, to text: inout [UInt8]) {
    guard let indent else { return }
    text.append(0x0A)
    text.append(contentsOf: repeatElement(0x20, count: indent))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as text.
  ///
  /// - Parameters:
  ///   - sortedKeys: Members stand in the order of their names and not as they were written.
  ///   - pretty: One element a line, indented by two spaces.
  public func serialized(sortedKeys: Bool = false, pretty: Bool = false) -> [UInt8] {
    var text: [UInt8] = []
    JSONWriter.append(self, sortedKeys: sortedKeys, indent: pretty ? 0 : nil, to: &text)
    return text
  }

  /// The value as compact text.
  public var description: String { String(decoding: serialized(), as: UTF8.self) }
}
