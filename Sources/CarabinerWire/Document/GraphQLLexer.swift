/// Splits a document into tokens; it knows the lexical grammar and nothing else.
struct GraphQLLexer {
  let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next token; at the end of the text the end, again and again.
  mutating func next() throws(GraphQLSyntaxError) -> GraphQLToken {
    try skipIgnored()
    let start = offset
    guard let byte = peek() else { return GraphQLToken(kind: .end, range: start..<start) }
    if let kind = Self.punctuator(byte) {
      offset += 1
      return GraphQLToken(kind: kind, range: start..<offset)
    }
    switch byte {
    case UInt8(ascii: "."):
      guard peek(1) == byte, peek(2) == byte else {
        throw error(.invalidCharacter, "a dot stands alone; did you mean \"...\"?", at: start)
      }
      offset += 3
      return GraphQLToken(kind: .spread, range: start..<offset)
    case _ where Self.isNameStart(byte):
      while let byte = peek(), Self.isNameStart(byte) || Self.isDigit(byte) { offset += 1 }
      return token(.name, from: start)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "\""):
      let isBlock = peek(1) == byte && peek(2) == byte
      let text = isBlock ? try blockString() : try string()
      return GraphQLToken(kind: .string, range: start..<offset, text: text)
    default: throw try invalidCharacter()
    }
  }

  func error(_ code: GraphQLSyntaxError.Code, _ message: String, at offset: Int) -> GraphQLSyntaxError {
    GraphQLSyntaxError(code, message, at: offset, in: bytes.span)
  }

  /// The byte so far ahead, if there is one.
  func peek(_ distance: Int = 0) -> UInt8? {
    offset + distance < bytes.count ? bytes[offset + distance] : nil
  }

  mutating func advance(by count: Int) { offset += count }

  /// How many bytes the character at the offset has.
  func characterLength() throws(GraphQLSyntaxError) -> Int {
    guard bytes[offset] >= 0x80 else { return 1 }
    guard let length = UTF8Sequence.length(at: offset, in: bytes.span) else {
      throw error(.invalidUTF8, "the text is not valid UTF-8", at: offset)
    }
    return length
  }

  // MARK: Between tokens

  private mutating func skipIgnored() throws(GraphQLSyntaxError) {
    while let byte = peek() {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","): offset += 1
      case UInt8(ascii: "#"):
        while let byte = peek(), byte != 0x0A, byte != 0x0D { offset += try characterLength() }
      case 0xEF where peek(1) == 0xBB && peek(2) == 0xBF: offset += 3
      default: return
      }
    }
  }

  private func invalidCharacter() throws(GraphQLSyntaxError) -> GraphQLSyntaxError {
    let length = try characterLength()
    if bytes[offset] == UInt8(ascii: "'") {
      return error(.invalidCharacter, "strings are quoted with \", not with '", at: offset)
    }
    let character =
      length > 1 || (0x21...0x7E).contains(bytes[offset])
      ? "\"\(String(text: bytes.span.extracting(offset..<offset + length)))\""
      : "U+00" + (bytes[offset] < 0x10 ? "0" : "") + String(bytes[offset], radix: 16, uppercase: true)
    return error(.invalidCharacter, "the character \(character) begins nothing GraphQL knows", at: offset)
  }

  // MARK: Names and numbers

  private func token(_ kind: GraphQLToken.Kind, from start: Int) -> GraphQLToken {
    GraphQLToken(
      kind: kind, range: start..<offset, text: String(text: bytes.span.extracting(start..<offset)))
  }

  private mutating func number() throws(GraphQLSyntaxError) -> GraphQLToken {
    let start = offset
    // Both languages write numbers alike.
    do {
      offset = try JSONScanner.numberEnd(from: start, in: bytes.span)
    } catch {
      throw self.error(
        error.code == .unexpectedEnd ? .unexpectedEnd : .invalidNumber,
        error.code == .unexpectedEnd ? "the document ends in the middle of a number" : error.message,
        at: start)
    }
    if let byte = peek(), byte == UInt8(ascii: ".") || Self.isNameStart(byte) || Self.isDigit(byte) {
      throw error(.invalidNumber, "something stands directly behind a number", at: offset)
    }
    let isInt = bytes[start..<offset].allSatisfy { Self.isDigit($0) || $0 == UInt8(ascii: "-") }
    return token(isInt ? .int : .float, from: start)
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  private static func punctuator(_ byte: UInt8) -> GraphQLToken.Kind? {
    switch byte {
    case UInt8(ascii: "{"): .leftBrace
    case UInt8(ascii: "}"): .rightBrace
    case UInt8(ascii: "("): .leftParenthesis
    case UInt8(ascii: ")"): .rightParenthesis
    case UInt8(ascii: "["): .leftBracket
    case UInt8(ascii: "]"): .rightBracket
    case UInt8(ascii: ":"): .colon
    case UInt8(ascii: "$"): .dollar
    case UInt8(ascii: "!"): .exclamationMark
    case UInt8(ascii: "="): .equals
    case UInt8(ascii: "@"): .at
    case UInt8(ascii: "&"): .ampersand
    case UInt8(ascii: "|"): .verticalBar
    default: nil
    }
  }
}
