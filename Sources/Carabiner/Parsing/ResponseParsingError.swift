internal import CarabinerWire
internal import FoundationEssentials

/// A response is not what a GraphQL server should send.
public struct ResponseParsingError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Code: String, Sendable, Hashable {
    /// The body is not valid JSON.
    case invalidJSON
    /// The body is JSON, but not an object with `data` or `errors`.
    case notAGraphQLResponse
    /// The data does not fit the type the caller asked for.
    case dataMismatch
    /// No parser reads this content type.
    case unsupportedContentType
    /// Anything else a parser says.
    case other
  }

  /// What kind of failure it was.
  public let code: Code
  /// What happened and what to do next, for a person.
  public let message: String
  /// What was thrown underneath; nil if nothing was.
  public let cause: (any Error)?

  /// An error with these parts.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  public var description: String { "\(message) [\(code.rawValue)]" }

  static func invalidJSON(_ error: JSONError, body: Data) -> Self {
    Self(.invalidJSON, "the response is not valid JSON: \(error); it begins with \(head(of: body))", cause: error)
  }

  static func notAGraphQLResponse(body: Data) -> Self {
    Self(
      .notAGraphQLResponse,
      "the response is JSON but has neither data nor errors; is the endpoint a GraphQL server? It begins with \(head(of: body))")
  }

  private static func head(of body: Data) -> String {
    let text = String(decoding: body.prefix(200), as: UTF8.self)
    return text.isEmpty ? "nothing: the body is empty" : text.debugDescription
  }
}
