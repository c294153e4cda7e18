public import CarabinerWire

/// Why an operation got no result over a WebSocket.
public struct WebSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The URL has no host, or a scheme other than ws and wss.
    case unsupportedURL
    /// A header of the handshake is malformed.
    case invalidHeader
    /// The environment names a proxy for this URL, and WebSockets do not go through one.
    case proxyUnsupported
    /// Nobody accepted the connection, or the name has no address.
    case cannotConnect
    /// The certificate or the TLS handshake failed.
    case tls
    /// The connection was not there within the connect timeout.
    case connectTimeout
    /// The server answered the handshake with another status than 101.
    case upgradeRefused
    /// The server's answer to the handshake is not what the rules ask for.
    case invalidUpgrade
    /// The server does not speak the subprotocol; close code 4406.
    case subprotocolRefused
    /// The connection's payload could not be made.
    case initialisationFailed
    /// The server refused `connection_init`.
    case initialisationRefused
    /// The server was too slow with `connection_ack`, or found the client too slow with `connection_init`; close code 4408.
    case acknowledgementTimeout
    /// The connection ended, by close codes 1000, 1001, 1005 and 1006 or without one.
    case connectionLost
    /// The server gave no sign of life.
    case keepAliveTimeout
    /// The server does not understand what was sent; close code 4400.
    case badRequest
    /// The server does not know this client; close code 4401.
    case unauthorized
    /// The server refuses this client; close code 4403.
    case forbidden
    /// The server has an operation of this id already; close code 4409.
    case subscriberExists
    /// The server was asked to begin twice; close code 4429.
    case tooManyInitialisations
    /// The server failed; close codes 4500 and 1011.
    case serverFailed
    /// The server closed with another code.
    case closed
    /// What the server sent is no message of the protocol.
    case invalidMessage
    /// A message of the server is longer than allowed.
    case messageTooLarge
    /// The server breaks the rules of WebSockets.
    case protocolViolation
    /// More operations wait for the connection than allowed.
    case tooManyOperations
    /// The transport was shut down.
    case shutDown
  }

  /// What kind of failure it was.
  public var code: Code
  /// What happened and what to do next, for a person.
  public var message: String
  /// Where the connection went, without a user's name and password.
  public var url: String
  /// The number the connection was closed with; nil if it was not closed by the server.
  public var closeCode: WebSocketCloseCode?
  /// The status of the answer to the handshake; nil if that was not what failed.
  public var statusCode: Int?
  /// Whether the operation may have reached the server.
  public var mayHaveBeenSent: Bool

  /// An error with these parts.
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

  public var description: String {
    "\(message) [\(code.rawValue)\(closeCode.map { ", close code \($0.rawValue)" } ?? ""), \(url)]"
  }
}
