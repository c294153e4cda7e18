internal import FoundationEssentials

/// Escapes data from servers for a terminal.
enum PrintableText {
  /// A text with its control characters escaped, so that a key cannot clear the screen.
  static func escaping(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if isControl(scalar) {
        result += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  /// A number, right-aligned in a column.
  static func right(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
  }

  /// A time of a record, in UTC.
  static func time(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Formatting characters and line separators change the layout of a line, so they are escaped too.
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
