/// A text is not JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable {
    case unexpectedEnd
    case unexpectedByte
    case byteOrderMark
    case invalidUTF8
    case invalidEscape
    case loneSurrogate
    case controlCharacter
    case invalidNumber
    case tooDeep
    case trailingBytes
  }

  /// What kind of fault it is.
  public let code: Code
  /// Bytes before the fault.
  public let offset: Int
  /// What is wrong, for a person.
  public let message: String

  /// An error at `offset`.
  public init(_ code: Code, at offset: Int, _ message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  public var description: String { "\(message) at byte \(offset)" }
}

/// How deep a text may be nested.
public struct JSONLimits: Sendable, Hashable {
  /// How deep arrays and objects may be nested unless told otherwise.
  public static let defaultMaximumDepth = 512
  /// No limit may be set above this: it keeps the parser on its stack.
  public static let highestMaximumDepth = 2048

  /// How deep arrays and objects may be nested.
  public let maximumDepth: Int

  /// Limits; a depth above ``highestMaximumDepth`` is lowered to it.
  public init(maximumDepth: Int = Self.defaultMaximumDepth) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
  }
}
