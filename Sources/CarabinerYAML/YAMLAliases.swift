/// A check before the YAML parser, which compares keys while it reads.
///
/// Aliases that are values cost nothing until the value is built, and ``YAMLDocument`` limits the number of values then. But the parser
/// hashes aliases in keys at once: a few lines whose keys alias each other would occupy it for hours. Therefore a text with more than a few
/// aliases must not have keys that could contain one. The check compares bytes and does not parse. It may regard a quoted text as an alias
/// or a key, but it never misses one.
enum YAMLAliases {
  /// The number of aliases up to which even the largest possible key is small.
  static let harmless = 8

  /// Rejects a text whose keys might expand.
  static func check(_ text: String) throws(YAMLProblem) {
    guard let key = suspiciousKey(in: text) else { return }
    throw YAMLProblem(
      .syntax,
      "there are more than \(harmless) aliases, and the key near byte \(key) may hold some; use plain texts as keys and write "
        + "values out")
  }

  private static func suspiciousKey(in text: String) -> Int? {
    let bytes = text.utf8Span.span
    var aliases = 0
    var key: Int?
    var previous = UInt8(ascii: "\n")
    for offset in bytes.indices {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "*") where isBreak(previous): aliases += 1
      case UInt8(ascii: "?") where isBreak(previous): key = key ?? offset
      case UInt8(ascii: ":") where key == nil && endsKey(bytes, offset): key = offset
      default: break
      }
      previous = byte
    }
    return aliases > harmless ? key : nil
  }

  /// Whether the key before a colon may be more than a plain text: a list, an object or an alias.
  private static func endsKey(_ bytes: Span<UInt8>, _ colon: Int) -> Bool {
    var offset = colon - 1
    while offset >= 0, isSpace(bytes[offset]) { offset -= 1 }
    guard offset >= 0 else { return false }
    if bytes[offset] == UInt8(ascii: "]") || bytes[offset] == UInt8(ascii: "}") { return true }
    // Names of aliases contain no white space, so the word before the colon is the whole key.
    while offset > 0, !isBreak(bytes[offset - 1]) { offset -= 1 }
    return bytes[offset] == UInt8(ascii: "*")
  }

  /// YAML 1.1 has line ends beyond ASCII, so every non-ASCII byte counts as one.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte >= 0x80 }

  private static func isBreak(_ byte: UInt8) -> Bool { isSpace(byte) || "[]{},:\"'-".utf8.contains(byte) }
}
