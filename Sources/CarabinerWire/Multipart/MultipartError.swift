/// A body is not the multipart body it should be.
public struct MultipartError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The content type names no boundary.
    case missingBoundary
    /// The content type names a boundary that none may be, or two.
    case invalidBoundary
    /// The body ends without the close delimiter.
    case truncated
    /// A boundary is followed by something else than the end of its line, where only a delimiter may stand.
    case malformedDelimiter
    /// A line among a part's headers is no header.
    case malformedHeader
    /// A part's headers are longer than the limit.
    case headerTooLarge
    /// A part, or what stands before the first one, is longer than the limit.
    case partTooLarge
  }

  /// What kind of fault it is.
  public let code: Code
  /// What is wrong, for a person.
  public let message: String

  /// An error that says this.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
