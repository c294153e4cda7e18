internal import CarabinerPlugin

/// Reads the tokens of a GraphQL document.
struct DocumentLexer {
  enum Token: Hashable {
    case name(String)
    case punctuator(UInt8)
    case spread
    /// A number, a string or a variable, whose content does not matter here.
    case value
  }

  private let text: [UInt8]
  private var position = 0
  private var peeked: Token??

  init(_ text: [UInt8]) { self.text = text }

  /// The next token, which stays the next one; nil at the end.
  mutating func peek() throws -> Token? {
    if let peeked { return peeked }
    let token = try read()
    peeked = .some(token)
    return token
  }

  /// The next token; nil at the end.
  mutating func next() throws -> Token? {
    if let token = peeked {
      peeked = nil
      return token
    }
    return try read()
  }

  private mutating func read() throws -> Token? {
    skipIgnored()
    guard position < text.count else { return nil }
    let byte = text[position]
    switch byte {
    case _ where byte.isNameStart:
      let start = position
      while position < text.count, text[position].isNamePart { position += 1 }
      return .name(String(decoding: text[start..<position], as: UTF8.self))
    case UInt8(ascii: "\""):
      try skipString()
      return .value
    case UInt8(ascii: "."):
      guard starts(with: "...") else { throw malformed }
      position += 3
      return .spread
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      while position < text.count, text[position].isNumberPart { position += 1 }
      return .value
    default:
      guard "!$&()[]{}:=@|".utf8.contains(byte) else { throw malformed }
      position += 1
      return .punctuator(byte)
    }
  }

  private mutating func skipIgnored() {
    while position < text.count {
      switch text[position] {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","): position += 1
      // A byte order mark.
      case 0xEF where starts(with: "\u{FEFF}"): position += 3
      case UInt8(ascii: "#"): while position < text.count, text[position] != 0x0A, text[position] != 0x0D { position += 1 }
      default: return
      }
    }
  }

  private mutating func skipString() throws {
    let isBlock = starts(with: "\"\"\"")
    position += isBlock ? 3 : 1
    while position < text.count {
      if isBlock, starts(with: "\\\"\"\"") {
        position += 4
      } else if isBlock, starts(with: "\"\"\"") {
        position += 3
        return
      } else if !isBlock, text[position] == UInt8(ascii: "\\") {
        position += 2
      } else if !isBlock, text[position] == UInt8(ascii: "\"") {
        position += 1
        return
      } else {
        position += 1
      }
    }
    throw malformed
  }

  private func starts(with prefix: String) -> Bool { text[position...].starts(with: prefix.utf8) }

  private var malformed: PluginFailure { PluginFailure("the document of the operation is malformed, so no rule can be applied") }
}

extension UInt8 {
  fileprivate var isNumberPart: Bool {
    isNamePart || self == UInt8(ascii: ".") || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
  }
}
