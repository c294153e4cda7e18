package import CarabinerWire

extension SocketSession {
  /// The options of a session.
  package struct Options: Sendable {
    package var dialect = WebSocketProtocol.graphQLTransportWS
    /// The URL of the connection, for messages.
    package var url = ""
    package var acknowledgementTimeout = Duration.seconds(10)
    /// How long after the last frame of the server a ping is sent; nil for never.
    package var pingInterval: Duration?
    package var pongTimeout = Duration.seconds(10)
    /// How long a connection without operations stays open.
    package var idleTimeout = Duration.seconds(60)
    /// Whether a connection stays open without operations, and is opened again if it is lost.
    package var keepsConnection = false
    /// Whether a lost connection is opened again.
    package var reconnects = true
    package var maximumWaitingOperations = 1000
    package var reconnection = WebSocketReconnection()
    package var json = JSONLimits()
    /// Creates the ids of operations; nil for increasing numbers.
    package var idCreator: (any OperationMessageIdCreator)?

    /// The defaults.
    package init() {}
  }
}
