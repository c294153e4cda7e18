/// A text is not JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text ends inside a value, or there is none.
    case unexpectedEnd
    /// The grammar does not allow the byte at this place.
    case unexpectedByte
    /// The text begins with a byte order mark.
    case byteOrderMark
    /// A string is not well-formed UTF-8.
    case invalidUTF8
    /// A backslash is not followed by one of the escapes JSON has.
    case invalidEscape
    /// A `\u` escape is half of a surrogate pair without its other half.
    case loneSurrogate
    /// A string contains an unescaped byte below 0x20.
    case controlCharacter
    /// A number lacks a digit or begins with a superfluous zero.
    case invalidNumber
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep
    /// Something other than white space follows the value.
    case trailingBytes
  }

  /// The kind of the fault.
  public let code: Code
  /// The offset of the fault in bytes.
  public let offset: Int
  /// The description of the fault.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at offset: Int, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  /// The description of the fault and its place.
  public var description: String { "\(message) at byte \(offset)" }
}

extension JSONError {
  /// The error for a text that ends too early, at `offset`.
  @inline(never) static func end(at offset: Int) -> JSONError {
    JSONError(.unexpectedEnd, at: offset, "the text ends in the middle of a value")
  }

  /// Creates an error. Not inlined, to keep it out of the scanner's hot loops.
  @inline(never) static func fault(_ code: Code, at offset: Int, _ message: StaticString) -> JSONError {
    JSONError(code, at: offset, "\(message)")
  }
}
