public import CarabinerWire

/// An operation over a WebSocket failed.
public struct WebSocketError: DescribedError, Sendable, Hashable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The URL has no host, or a scheme other than ws and wss.
    case unsupportedURL
    /// A header of the handshake is malformed.
    case invalidHeader
    /// The environment sets a proxy for this URL, and WebSockets do not support proxies.
    case proxyUnsupported
    /// The connection was not accepted, or the host name has no address.
    case cannotConnect
    /// The certificate or the TLS handshake failed.
    case tls
    /// The connection was not open within the connect timeout.
    case connectTimeout
    /// The server answered the handshake with a status other than 101.
    case upgradeRefused
    /// The answer to the handshake does not follow RFC 6455.
    case invalidUpgrade
    /// The server does not support the subprotocol; close code 4406.
    case subprotocolRefused
    /// The payload of `connection_init` could not be created.
    case initialisationFailed
    /// The server rejected `connection_init`.
    case initialisationRefused
    /// `connection_ack` did not arrive in time, or the server did not receive `connection_init` in time; close code 4408.
    case acknowledgementTimeout
    /// The connection ended, with close code 1000, 1001, 1005 or 1006, or without one.
    case connectionLost
    /// The server did not answer a ping.
    case keepAliveTimeout
    /// The server does not understand a message; close code 4400.
    case badRequest
    /// The client is not authenticated; close code 4401.
    case unauthorized
    /// The client is not allowed to connect; close code 4403.
    case forbidden
    /// The server already has an operation with this id; close code 4409.
    case subscriberExists
    /// `connection_init` was sent twice; close code 4429.
    case tooManyInitialisations
    /// The server failed; close codes 4500 and 1011.
    case serverFailed
    /// The server closed with another code.
    case closed
    /// A message of the server is malformed.
    case invalidMessage
    /// A message of the server exceeds the limit.
    case messageTooLarge
    /// The server violates RFC 6455.
    case protocolViolation
    /// Too many operations wait for the connection.
    case tooManyOperations
    /// The transport was shut down.
    case shutDown
  }

  /// The kind of failure.
  public var code: Code
  /// The failure and what to do next.
  public var message: String
  /// The URL of the connection, without user name and password.
  public var url: String
  /// The close code of the server; nil if the server did not close the connection.
  public var closeCode: WebSocketCloseCode?
  /// The status of the answer to the handshake; nil if the handshake did not fail.
  public var statusCode: Int?
  /// Whether the operation may have reached the server.
  public var mayHaveBeenSent: Bool

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, url: String, closeCode: WebSocketCloseCode? = nil, statusCode: Int? = nil,
    mayHaveBeenSent: Bool = false
  ) {
    self.code = code
    self.message = message
    self.url = PrintableURL(url).description
    self.closeCode = closeCode
    self.statusCode = statusCode
    self.mayHaveBeenSent = mayHaveBeenSent
  }

  public var errorDescription: String? { message }

  public var description: String {
    "\(message) [\(code.rawValue)\(closeCode.map { ", close code \($0.rawValue)" } ?? ""), \(url)]"
  }
}
