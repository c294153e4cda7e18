/// Splits a document into tokens according to the lexical grammar.
///
/// A token is a range of the text. Names and numbers become strings only where the document keeps them.
struct GraphQLLexer {
  let bytes: [UInt8]
  private(set) var offset = 0
  /// The value of the last string.
  private(set) var lastString = ""

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next token. At the end of the text, it returns the end token each time.
  mutating func next() throws(GraphQLSyntaxError) -> GraphQLToken {
    offset = try ignoredEnd()
    let start = offset
    guard let byte = peek() else { return token(.end, from: start) }
    let kind: GraphQLToken.Kind
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
      offset = nameEnd()
      return token(.name, from: start)
    case UInt8(ascii: "{"): kind = .leftBrace
    case UInt8(ascii: "}"): kind = .rightBrace
    case UInt8(ascii: "("): kind = .leftParenthesis
    case UInt8(ascii: ")"): kind = .rightParenthesis
    case UInt8(ascii: "["): kind = .leftBracket
    case UInt8(ascii: "]"): kind = .rightBracket
    case UInt8(ascii: ":"): kind = .colon
    case UInt8(ascii: "$"): kind = .dollar
    case UInt8(ascii: "!"): kind = .exclamationMark
    case UInt8(ascii: "="): kind = .equals
    case UInt8(ascii: "@"): kind = .at
    case UInt8(ascii: "&"): kind = .ampersand
    case UInt8(ascii: "|"): kind = .verticalBar
    case UInt8(ascii: "."):
      guard peek(1) == byte, peek(2) == byte else {
        throw error(.invalidCharacter, "a single dot is not a token; write \"...\" for a spread", at: start)
      }
      offset += 3
      return token(.spread, from: start)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "\""):
      lastString = peek(1) == byte && peek(2) == byte ? try blockString() : try string()
      return token(.string, from: start)
    default: throw try invalidCharacter()
    }
    offset += 1
    return token(kind, from: start)
  }

  /// The text in a range.
  func text(at range: Range<Int>) -> String { String(text: bytes.span.extracting(range)) }

  /// Whether a range contains a word.
  func hasWord(_ word: String, at range: Range<Int>) -> Bool {
    let (word, bytes) = (word.utf8Span.span, bytes.span)
    guard word.count == range.count else { return false }
    for place in word.indices where bytes[range.lowerBound + place] != word[place] { return false }
    return true
  }

  func error(_ code: GraphQLSyntaxError.Code, _ message: String, at offset: Int) -> GraphQLSyntaxError {
    GraphQLSyntaxError(code, message, at: offset, in: bytes.span)
  }

  /// The byte at a distance from the current offset; nil after the end.
  func peek(_ distance: Int = 0) -> UInt8? {
    offset + distance < bytes.count ? bytes[offset + distance] : nil
  }

  mutating func advance(by count: Int) { offset += count }

  /// The number of bytes of the character at an offset.
  func characterLength(at offset: Int) throws(GraphQLSyntaxError) -> Int {
    guard bytes[offset] >= 0x80 else { return 1 }
    guard let length = UTF8Sequence.length(at: offset, in: bytes.span) else {
      throw error(.invalidUTF8, "the text is not valid UTF-8", at: offset)
    }
    return length
  }

  // MARK: Between tokens

  /// The offset of the next token, after white space and comments.
  private func ignoredEnd() throws(GraphQLSyntaxError) -> Int {
    let bytes = bytes.span
    var place = offset
    while place < bytes.count {
      switch bytes[place] {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","): place += 1
      case UInt8(ascii: "#"):
        while place < bytes.count, bytes[place] != 0x0A, bytes[place] != 0x0D { place += try characterLength(at: place) }
      case 0xEF where place + 2 < bytes.count && bytes[place + 1] == 0xBB && bytes[place + 2] == 0xBF: place += 3
      default: return place
      }
    }
    return place
  }

  private func invalidCharacter() throws(GraphQLSyntaxError) -> GraphQLSyntaxError {
    let length = try characterLength(at: offset)
    if bytes[offset] == UInt8(ascii: "'") {
      return error(.invalidCharacter, "strings are quoted with \", not with '", at: offset)
    }
    let character =
      length > 1 || (0x21...0x7E).contains(bytes[offset])
      ? "\"\(String(text: bytes.span.extracting(offset..<offset + length)))\""
      : "U+00" + (bytes[offset] < 0x10 ? "0" : "") + String(bytes[offset], radix: 16, uppercase: true)
    return error(.invalidCharacter, "the character \(character) is not valid at this place", at: offset)
  }

  // MARK: Names and numbers

  private func token(_ kind: GraphQLToken.Kind, from start: Int) -> GraphQLToken {
    GraphQLToken(kind: kind, range: start..<offset)
  }

  private func nameEnd() -> Int {
    let bytes = bytes.span
    var place = offset
    while place < bytes.count, Self.continuesName(bytes[place]) { place += 1 }
    return place
  }

  /// Whether a byte may follow the first one of a name.
  static func continuesName(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }

  private mutating func number() throws(GraphQLSyntaxError) -> GraphQLToken {
    let start = offset
    // GraphQL numbers have the syntax of JSON numbers.
    do {
      offset = try JSONScanner.numberEnd(from: start, in: bytes.span)
    } catch {
      throw self.error(
        error.code == .unexpectedEnd ? .unexpectedEnd : .invalidNumber,
        error.code == .unexpectedEnd ? "the document ends in the middle of a number" : error.message,
        at: start)
    }
    if let byte = peek(), byte == UInt8(ascii: ".") || Self.continuesName(byte) {
      throw error(.invalidNumber, "a number is followed directly by another character; separate them", at: offset)
    }
    let isInt = bytes[start..<offset].allSatisfy { Self.isDigit($0) || $0 == UInt8(ascii: "-") }
    return token(isInt ? .int : .float, from: start)
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
