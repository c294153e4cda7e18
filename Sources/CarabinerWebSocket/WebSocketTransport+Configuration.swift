public import Carabiner
public import CarabinerWire

extension WebSocketTransport {
  /// Returns the payload of `connection_init`; nil for none.
  public typealias ConnectionPayload = @Sendable () async throws -> JSONObject?

  /// The configuration of a ``WebSocketTransport``.
  public struct Configuration: Sendable {
    /// The default maximal size of a message with all its fragments, 64 MiB.
    public static let defaultMaximumMessageBytes = 64 << 20
    /// The maximal number of operations that wait for the connection.
    public static let defaultMaximumWaitingOperations = 1000
    /// The default number of results of one operation that are buffered for a slow reader.
    public static let defaultMaximumBufferedResults = 256
    /// The default size of the buffered results of one operation, 8 MiB.
    public static let defaultMaximumBufferedBytes = 8 << 20

    /// The subprotocol.
    public var webSocketProtocol = WebSocketProtocol.graphQLTransportWS
    /// Returns the payload of `connection_init`; nil for none. It is called for each connection, so the payload may contain a
    /// token that expires.
    public var connectionPayload: ConnectionPayload?
    /// The timeout for opening a connection, including TLS and the handshake.
    public var connectTimeout = Duration.seconds(10)
    /// The timeout for `connection_ack`.
    public var acknowledgementTimeout = Duration.seconds(10)
    /// The time after the last frame of the server after which a ping is sent; nil for never.
    public var pingInterval: Duration?
    /// The timeout for the answer to a ping.
    public var pongTimeout = Duration.seconds(10)
    /// The time that a connection without operations stays open.
    public var idleTimeout = Duration.seconds(60)
    /// The settings for reconnecting after a lost connection.
    public var reconnection = WebSocketReconnection()
    /// The maximal size of a message of the server in bytes, with all its fragments.
    public var maximumMessageBytes = Self.defaultMaximumMessageBytes
    /// The maximal size of a deferred response in bytes, all parts together.
    public var maximumMergedBytes = ResponseLimits.defaultMaximumMergedBytes
    /// The maximal number of operations that wait for the connection.
    public var maximumWaitingOperations = Self.defaultMaximumWaitingOperations
    /// The number of results of one operation that are buffered for a slow reader. If there are more, reading from the connection
    /// is paused.
    public var maximumBufferedResults = Self.defaultMaximumBufferedResults
    /// The size of the results of one operation that are buffered, in bytes. If there are more, reading from the connection is
    /// paused.
    public var maximumBufferedBytes = Self.defaultMaximumBufferedBytes
    /// The maximal nesting depth of the JSON of a result.
    public var maximumDepth = ResponseLimits.defaultMaximumDepth
    /// The limits for connections whose handshakes have the headers of requests; nil if headers of requests are not sent, and all
    /// operations share one connection.
    package var identities: IdentityLimits?
    /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
    public var certificateAuthorityFile: String?
    /// Makes the ids of operations; nil for increasing numbers.
    public var operationMessageIdCreator: (any OperationMessageIdCreator)?

    /// Creates the default configuration.
    public init() {}

    func session(url: String) -> SocketSession.Options {
      var options = SocketSession.Options()
      options.dialect = webSocketProtocol
      options.url = url
      options.acknowledgementTimeout = acknowledgementTimeout
      options.pingInterval = pingInterval
      options.pongTimeout = pongTimeout
      options.idleTimeout = idleTimeout
      options.maximumWaitingOperations = maximumWaitingOperations
      options.reconnection = reconnection
      options.json = JSONLimits(maximumDepth: maximumDepth)
      options.idCreator = operationMessageIdCreator
      return options
    }
  }
}
