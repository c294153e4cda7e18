/// Literals in Swift.
enum SwiftLiteral {
  /// A text as a string literal in one line.
  static func string(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      default:
        // Control characters, and marks that change the direction of the code around them.
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
          literal += "\\u{\(String(scalar.value, radix: 16))}"
        default: literal.unicodeScalars.append(scalar)
        }
      }
    }
    return literal + "\""
  }

  /// A text without line breaks, with as few escapes as possible.
  static func rawString(_ text: String) -> String {
    let needsEscapes = text.unicodeScalars.contains { $0.value < 0x20 || $0.value >= 0x7F }
    guard !needsEscapes, text.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
      return string(text)
    }
    // One `#` more than the longest run of `#` in the text.
    let longest = text.split(omittingEmptySubsequences: true) { $0 != "#" }.map(\.count).max() ?? 0
    let signs = String(repeating: "#", count: longest + 1)
    return signs + "\"" + text + "\"" + signs
  }
}
