/// A text is not JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text ends inside a value, or there is none.
    case unexpectedEnd
    /// A byte stands where the grammar has no place for it.
    case unexpectedByte
    /// The text begins with a byte order mark.
    case byteOrderMark
    /// A string is not well-formed UTF-8.
    case invalidUTF8
    /// A backslash is not followed by one of the escapes JSON has.
    case invalidEscape
    /// A `\u` escape is half of a surrogate pair without its other half.
    case loneSurrogate
    /// A byte below 0x20 stands in a string as itself.
    case controlCharacter
    /// A number lacks a digit or begins with a superfluous zero.
    case invalidNumber
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep
    /// Something other than white space follows the value.
    case trailingBytes
  }

  /// What kind of fault it is.
  public let code: Code
  /// How many bytes stand before the fault.
  public let offset: Int
  /// What is wrong, for a person.
  public let message: String

  /// An error at `offset`.
  public init(_ code: Code, at offset: Int, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  /// What is wrong and where, for a person.
  public var description: String { "\(message) at byte \(offset)" }
}

extension JSONError {
  /// The text ends at `offset`, too early.
  @inline(never) static func end(at offset: Int) -> JSONError {
    JSONError(.unexpectedEnd, at: offset, "the text ends in the middle of a value")
  }

  /// An error whose making stays out of the scanner's hot loops.
  @inline(never) static func fault(_ code: Code, at offset: Int, _ message: StaticString) -> JSONError {
    JSONError(code, at: offset, "\(message)")
  }
}
