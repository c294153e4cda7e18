public import FoundationEssentials

/// A request as interceptors and HTTP clients see it.
public struct HTTPRequest<Input: Sendable>: Sendable {
  /// The URL.
  public let url: URL
  /// The header fields.
  public let headers: Headers
  /// The message, in the form of the hook that gets it.
  public let message: Input
  /// Trailers; no protocol of this module sends them.
  public let trailers: Trailers?
  private let givenMethod: HTTPMethod?
  private let givenLevel: IdempotencyLevel?
  /// The exchange that the request belongs to; nil before it is sent, and for a request made elsewhere.
  package var exchange: Exchange?

  /// The method.
  public var method: HTTPMethod { givenMethod ?? .post }
  /// The idempotency of the method.
  public var idempotencyLevel: IdempotencyLevel { givenLevel ?? .unknown }

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - headers: The header fields.
  ///   - message: The message.
  ///   - method: The method; nil for that of the request which the interceptor was given, or POST.
  ///   - trailers: The trailers; nil for none.
  ///   - idempotencyLevel: nil for that of the request which the interceptor was given, or `unknown`.
  public init(
    url: URL, headers: Headers, message: Input, method: HTTPMethod? = nil, trailers: Trailers?,
    idempotencyLevel: IdempotencyLevel? = nil
  ) {
    self.url = url
    self.headers = headers
    self.message = message
    givenMethod = method
    self.trailers = trailers
    givenLevel = idempotencyLevel
  }

  /// The request, with the parts that it lacks taken from another one.
  func completed<Other>(by given: HTTPRequest<Other>) -> Self {
    Self(
      url: url, headers: headers, message: message, method: givenMethod ?? given.method, trailers: trailers,
      idempotencyLevel: givenLevel ?? given.idempotencyLevel)
  }

  /// The request with another message.
  func carrying<Other>(_ message: Other) -> HTTPRequest<Other> {
    HTTPRequest<Other>(
      url: url, headers: headers, message: message, method: givenMethod, trailers: trailers, idempotencyLevel: givenLevel)
  }
}
