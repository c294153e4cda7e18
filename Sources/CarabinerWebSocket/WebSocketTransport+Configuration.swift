public import Carabiner
public import CarabinerWire

extension WebSocketTransport {
  /// Makes the payload of `connection_init`; nil for none.
  public typealias ConnectionPayload = @Sendable () async throws -> JSONObject?

  /// What may be chosen of a ``WebSocketTransport``.
  public struct Configuration: Sendable {
    /// How large a message may be, all its fragments together, 64 MiB.
    public static let defaultMaximumMessageBytes = 64 << 20
    /// How many operations may wait for the connection.
    public static let defaultMaximumWaitingOperations = 1000
    /// How many results of one operation are kept for a reader that does not keep up.
    public static let defaultMaximumBufferedResults = 256
    /// How many bytes of them are kept, 8 MiB.
    public static let defaultMaximumBufferedBytes = 8 << 20

    /// Which protocol is spoken.
    public var webSocketProtocol = WebSocketProtocol.graphQLTransportWS
    /// Makes the payload of `connection_init`, anew for each connection, so that it can hold a token that expires; nil for none.
    public var connectionPayload: ConnectionPayload?
    /// How long a connection may take with TLS and handshake.
    public var connectTimeout = Duration.seconds(10)
    /// How long the server may take to acknowledge.
    public var acknowledgementTimeout = Duration.seconds(10)
    /// How long after the last sign of life the server is pinged; nil for never.
    public var pingInterval: Duration?
    /// How long the server may take to answer a ping.
    public var pongTimeout = Duration.seconds(10)
    /// How long a connection without operations stays open.
    public var idleTimeout = Duration.seconds(60)
    /// How often and how fast a connection that was lost is opened again.
    public var reconnection = WebSocketReconnection()
    /// How large a message of the server may be, all its fragments together.
    public var maximumMessageBytes = Self.defaultMaximumMessageBytes
    /// How large a response may be that is put together of deferred parts, all parts added up.
    public var maximumMergedBytes = ResponseLimits.defaultMaximumMergedBytes
    /// How many operations may wait for the connection.
    public var maximumWaitingOperations = Self.defaultMaximumWaitingOperations
    /// How many results of one operation are kept for a reader that does not keep up; from there on nothing is read.
    public var maximumBufferedResults = Self.defaultMaximumBufferedResults
    /// How many bytes of results of one operation are kept; from there on nothing is read.
    public var maximumBufferedBytes = Self.defaultMaximumBufferedBytes
    /// How deep the JSON of a result may be nested.
    public var maximumDepth = ResponseLimits.defaultMaximumDepth
    /// A file of certificates to trust instead of the system's.
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
