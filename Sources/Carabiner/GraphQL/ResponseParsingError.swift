internal import CarabinerWire
internal import FoundationEssentials

/// The response of a server cannot be read as a GraphQL response.
public struct ResponseParsingError: DescribedError, Sendable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable {
    /// The body is not valid JSON.
    case invalidJSON
    /// The body is JSON, but not an object with `data` or `errors`.
    case notAGraphQLResponse
    /// The data does not fit the type of the operation.
    case dataMismatch
    /// There is no parser for this content type.
    case unsupportedContentType
    /// The content type of a multipart response has no boundary.
    case missingBoundary
    /// The parts of a multipart response do not follow RFC 2046.
    case invalidMultipart
    /// A multipart response ends before its close delimiter.
    case truncated
    /// A part of a multipart response, or its headers, exceed the limit.
    case partTooLarge
    /// The merged parts of a deferred response exceed the limit.
    case responseTooLarge
    /// A deferred part does not fit the parts before it.
    case invalidPatch
    /// The parts end although the last one has `hasNext: true`.
    case incomplete
    /// Another error of a parser, for example of a plugin.
    case other
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and what to do next.
  public let message: String
  /// The error that caused this one; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  public var errorDescription: String? { message }

  public var description: String { "\(message) [\(code.rawValue)]" }

  /// The error for a body that is not JSON. An empty body is reported as `notAGraphQLResponse`.
  static func unreadable(_ error: JSONError, body: Data) -> Self {
    let isEmpty = body.allSatisfy { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
    return isEmpty ? notAGraphQLResponse(body: Data()) : invalidJSON(error, body: body)
  }

  static func invalidJSON(_ error: JSONError, body: Data) -> Self {
    Self(.invalidJSON, "the response is not valid JSON: \(error); it begins with \(head(of: body))", cause: error)
  }

  static func notAGraphQLResponse(body: Data) -> Self {
    Self(
      .notAGraphQLResponse,
      body.isEmpty
        ? "the response has no body; is the endpoint a GraphQL server?"
        : "the response is JSON but has neither data nor errors; is the endpoint a GraphQL server? It begins with \(head(of: body))"
    )
  }

  static func notAGraphQLResponse(_ fault: String, body: Data) -> Self {
    Self(.notAGraphQLResponse, "the response is JSON and not a GraphQL response: \(fault). It begins with \(head(of: body))")
  }

  /// The error for a body of which a part was passed on.
  static func cannotBePassed(_ fault: String, body: Data) -> Self {
    Self(.notAGraphQLResponse, "the response is not a whole GraphQL response: \(fault). It begins with \(head(of: body))")
  }

  init(_ error: MultipartError, contentType: String?) {
    let code: Code =
      switch error.code {
      case .missingBoundary: .missingBoundary
      case .truncated: .truncated
      case .partTooLarge, .headerTooLarge: .partTooLarge
      case .invalidBoundary, .malformedDelimiter, .malformedHeader: .invalidMultipart
      }
    self.init(
      code, "the response in parts (\(contentType ?? "of no Content-Type")) cannot be read: \(error.message)", cause: error)
  }

  init(_ error: IncrementalError) {
    switch error.code {
    case .tooLarge: self.init(.responseTooLarge, error.message, cause: error)
    case .incomplete: self.init(.incomplete, "\(Self.misfit): \(error.message)", cause: error)
    case .malformedPart, .unknownPath, .unknownID, .duplicate, .afterEnd:
      self.init(.invalidPatch, "\(Self.misfit): \(error.message)", cause: error)
    }
  }

  /// The number of bytes of a body that messages have.
  static let headBytes = 200

  private static let misfit = "the parts of the response do not fit together"

  private static func head(of body: Data) -> String {
    let text = String(decoding: body.prefix(headBytes), as: UTF8.self)
    return text.isEmpty ? "nothing: the body is empty" : text.debugDescription
  }
}
