/// A text is not an executable GraphQL document.
public struct GraphQLSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The grammar does not allow the token at this place.
    case unexpectedToken
    /// The text ends too early.
    case unexpectedEnd
    /// A character begins no token.
    case invalidCharacter
    /// The text is not well-formed UTF-8.
    case invalidUTF8
    /// A string is not closed, or not in its line.
    case unterminatedString
    /// A backslash is not followed by one of the escapes GraphQL has.
    case invalidEscape
    /// A number is malformed.
    case invalidNumber
    /// A definition is valid only in a schema, not in a request.
    case notExecutable
    /// Brackets are nested deeper than the limit.
    case tooDeep
    /// The document has more tokens than the limit.
    case tooManyTokens
    /// The document has more bytes than the limit.
    case tooLarge
  }

  /// The kind of the fault.
  public let code: Code
  /// The description of the fault.
  public let message: String
  /// The line of the fault, counted from 1.
  public let line: Int
  /// The column of the fault in Unicode characters, counted from 1.
  public let column: Int
  /// The offset of the fault in bytes.
  public let offset: Int

  init(_ code: Code, _ message: String, at offset: Int, in bytes: Span<UInt8>) {
    self.code = code
    self.message = message
    self.offset = offset
    (line, column) = Self.place(of: offset, in: bytes)
  }

  /// The description of the fault and its place.
  public var description: String { "\(message) at line \(line), column \(column)" }

  private static func place(of offset: Int, in bytes: Span<UInt8>) -> (line: Int, column: Int) {
    var (line, column) = (1, 1)
    for index in 0..<min(offset, bytes.count) {
      switch bytes[index] {
      // CR LF counts as one line break, at the LF.
      case 0x0D where index + 1 < bytes.count && bytes[index + 1] == 0x0A: break
      case 0x0A, 0x0D: (line, column) = (line + 1, 1)
      case 0x80...0xBF: break
      default: column += 1
      }
    }
    return (line, column)
  }
}
