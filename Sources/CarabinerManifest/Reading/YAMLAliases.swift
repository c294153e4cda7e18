/// A guard before the YAML parser, which compares keys while it reads.
///
/// Aliases used as values cost nothing until somebody walks them, and ``YAMLDocument`` counts as it walks. Inside keys they
/// are hashed at once, and a few lines that alias each other in keys would keep the parser busy for ever. So a text with more
/// than a handful of aliases may not have keys that could hold one. This looks at bytes and not at grammar: it may see an
/// alias or a key where a quoted text stands, never the other way round.
enum YAMLAliases {
  /// With so few aliases even the worst key is small.
  static let harmless = 8

  /// Refuses a text whose keys might multiply.
  static func check(_ text: String) throws(ManifestProblem) {
    guard let key = suspiciousKey(in: text) else { return }
    throw ManifestProblem(
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

  /// Whether what ends before a colon may be more than a plain text: a list, an object or an alias.
  private static func endsKey(_ bytes: Span<UInt8>, _ colon: Int) -> Bool {
    var offset = colon - 1
    while offset >= 0, isSpace(bytes[offset]) { offset -= 1 }
    guard offset >= 0 else { return false }
    if bytes[offset] == UInt8(ascii: "]") || bytes[offset] == UInt8(ascii: "}") { return true }
    // Names of aliases have no white space, so the word before the colon is the whole key.
    while offset > 0, !isBreak(bytes[offset - 1]) { offset -= 1 }
    return bytes[offset] == UInt8(ascii: "*")
  }

  /// YAML 1.1 has line ends beyond ASCII, so every byte beyond counts as one.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte >= 0x80 }

  private static func isBreak(_ byte: UInt8) -> Bool { isSpace(byte) || "[]{},:\"'-".utf8.contains(byte) }
}
