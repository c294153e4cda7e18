internal import CarabinerWire

/// A description as a string of the schema definition language.
struct DescriptionText {
  /// The longest text that is printed on one line.
  private static var maximumLineLength: Int { 70 }

  private let text: String

  init(_ text: String) { self.text = text }

  /// The text in quotes, with each line indented. A block string is used if it can express the text exactly.
  func printed(indent: String) -> String {
    guard fitsBlockString else { return indent + GraphQLDocument.Value.string(text).description }
    let escaped = Self.escaped(text)
    let lines = escaped.split(separator: "\n", omittingEmptySubsequences: false)
    let last = escaped.utf8.last
    if lines.count == 1, escaped.utf8.count <= Self.maximumLineLength, last != UInt8(ascii: "\""), last != UInt8(ascii: "\\") {
      return "\(indent)\"\"\"\(escaped)\"\"\""
    }
    return "\(indent)\"\"\"\n" + lines.map { $0.isEmpty ? "\n" : "\(indent)\($0)\n" }.joined() + "\(indent)\"\"\""
  }

  /// Whether a block string has this text as its value. It removes blank lines at both ends and common indentation, and changes line
  /// breaks.
  private var fitsBlockString: Bool {
    if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x0A && $0 != 0x09 }) { return false }
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = lines.first, let last = lines.last, !first.allSatisfy(isSpace), !last.allSatisfy(isSpace) else {
      return false
    }
    return lines.contains { line in line.first.map { !isSpace($0) } ?? false }
  }

  /// The text with a backslash before each three quotes.
  private static func escaped(_ text: String) -> String {
    var (result, quotes): ([UInt8], Int) = ([], 0)
    for byte in text.utf8 {
      result.append(byte)
      quotes = byte == UInt8(ascii: "\"") ? quotes + 1 : 0
      guard quotes == 3 else { continue }
      result.insert(UInt8(ascii: "\\"), at: result.count - 3)
      quotes = 0
    }
    return String(decoding: result, as: UTF8.self)
  }
}
