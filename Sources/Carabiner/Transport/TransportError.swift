/// A request could not be sent, or its response could not be received.
public struct TransportError: DescribedError, Sendable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The URL has no host, or a scheme other than http and https.
    case unsupportedURL
    /// The method of the request is malformed, or does not fit the request.
    case invalidMethod
    /// A header of the request is malformed.
    case invalidHeader
    /// A file of the body is missing, unreadable or not a regular file.
    case fileUnreadable
    /// The length of a file of the body has changed since the request was created.
    case fileChanged
    /// The body is a stream, which was sent before.
    case bodyNotRepeatable
    /// The host name has no address.
    case nameNotResolved
    /// The connection was not accepted.
    case cannotConnect
    /// The proxy refused or failed.
    case proxyFailed
    /// The certificate or the TLS handshake failed.
    case tls
    /// The connect timeout or the total timeout passed.
    case timedOut
    /// The connection ended before the response was complete.
    case connectionLost
    /// The response is not valid HTTP, or its compression is broken.
    case invalidResponse
    /// The response's head is longer than allowed.
    case headTooLarge
    /// The response's body is longer than allowed, after decompression.
    case bodyTooLarge
    /// There were more redirects than allowed, or one to a URL that is not allowed.
    case redirectRefused
    /// Any other error of libcurl.
    case other
  }

  /// The kind of failure.
  public var code: Code
  /// The failure and what to do next.
  public var message: String
  /// The URL of the request, without user name and password.
  public var url: String
  /// Whether bytes of the request may have reached the server.
  public var mayHaveBeenSent: Bool
  /// Whether any byte of the response had arrived.
  public var responseBegan: Bool

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, url: String, mayHaveBeenSent: Bool = false, responseBegan: Bool = false
  ) {
    self.code = code
    self.message = message
    self.url = PrintableURL(url).description
    self.mayHaveBeenSent = mayHaveBeenSent
    self.responseBegan = responseBegan
  }

  public var errorDescription: String? { message }

  public var description: String { "\(message) [\(code.rawValue), \(url)]" }
}
