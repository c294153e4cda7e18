public import Carabiner
public import CarabinerWire

extension WebSocketTransport {
  /// Makes the payload of `connection_init`; nil for none.
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
    /// Makes the payload of `connection_init`; nil for none. It is called for each connection, so the payload may contain a token that
    /// expires.
    public var connectionPayload: ConnectionPayload?
    /// The limit for opening a connection, TLS and handshake included.
    public var connectTimeout = Duration.seconds(10)
    /// The limit for `connection_ack`.
    public var acknowledgementTimeout = Duration.seconds(10)
    /// How long after the last frame of the server a ping is sent; nil for never.
    public var pingInterval: Duration?
    /// The limit for the answer to a ping.
    public var pongTimeout = Duration.seconds(10)
    /// How long a connection without operations stays open.
    public var idleTimeout = Duration.seconds(60)
    /// How often and how fast a lost connection is opened again.
    public var reconnection = WebSocketReconnection()
    /// The maximal size of a message of the server in bytes, with all its fragments.
    public var maximumMessageBytes = Self.defaultMaximumMessageBytes
    /// The maximal size of a deferred response in bytes, all parts together.
    public var maximumMergedBytes = ResponseLimits.defaultMaximumMergedBytes
    /// The maximal number of operations that wait for the connection.
    public var maximumWaitingOperations = Self.defaultMaximumWaitingOperations
    /// How many results of one operation are buffered for a slow reader. If there are more, reading from the connection is paused.
    public var maximumBufferedResults = Self.defaultMaximumBufferedResults
    /// How many bytes of results of one operation are buffered. If there are more, reading from the connection is paused.
    public var maximumBufferedBytes = Self.defaultMaximumBufferedBytes
    /// The maximal nesting depth of the JSON of a result.
    public var maximumDepth = ResponseLimits.defaultMaximumDepth
    /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
    public var certificateAuthorityFile: String?

    /// The defaults.
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
      return options
    }
  }
}
