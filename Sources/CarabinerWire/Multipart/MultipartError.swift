/// A body is not a valid multipart body.
public struct MultipartError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The content type names no boundary.
    case missingBoundary
    /// The content type has a boundary that is not valid, or two boundaries.
    case invalidBoundary
    /// The body ends without the close delimiter.
    case truncated
    /// A boundary is not followed by the end of its line, although only a delimiter is allowed there.
    case malformedDelimiter
    /// A line among the headers of a part is not a header.
    case malformedHeader
    /// A part's headers are longer than the limit.
    case headerTooLarge
    /// A part, or the preamble, exceeds the limit.
    case partTooLarge
  }

  /// The kind of the fault.
  public let code: Code
  /// The description of the fault.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}
