/// Texts of plugins, servers and clients, made safe to print.
///
/// Such a text must not drive a terminal (escape sequences, C1 controls), forge a line (line and paragraph separators), or show its
/// characters in another order or not at all (bidirectional and other format controls).
package enum PrintableText {
  /// The text with these characters escaped as JSON escapes them, such as `\u009b`. So a JSON text keeps its meaning.
  ///
  /// - Parameter keepsLines: Whether line feeds and tabs stay.
  package static func escaping(_ text: String, keepsLines: Bool = false) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }), text.unicodeScalars.contains(where: isActive) else {
      return text
    }
    var printable = ""
    for scalar in text.unicodeScalars {
      if isActive(scalar), !(keepsLines && (scalar == "\n" || scalar == "\t")) {
        printable += escape(scalar)
      } else {
        printable.unicodeScalars.append(scalar)
      }
    }
    return printable
  }

  /// The text of bytes of any content. Invalid UTF-8 is replaced by U+FFFD.
  package static func escaping(_ bytes: some Collection<UInt8>) -> String { escaping(String(decoding: bytes, as: UTF8.self)) }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x7F else { return scalar.value < 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default:
      scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      }.joined()
    }
  }
}
