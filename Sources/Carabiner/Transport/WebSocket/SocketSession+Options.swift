package import CarabinerWire

extension SocketSession {
  /// What may be chosen of a session.
  package struct Options: Sendable {
    package var dialect = WebSocketProtocol.graphQLTransportWS
    /// Where the connection goes, for messages.
    package var url = ""
    package var acknowledgementTimeout = Duration.seconds(10)
    /// How long after the last sign of life a ping is sent; nil for never.
    package var pingInterval: Duration?
    package var pongTimeout = Duration.seconds(10)
    /// How long a connection without operations stays.
    package var idleTimeout = Duration.seconds(60)
    package var maximumWaitingOperations = 1000
    package var reconnection = WebSocketReconnection()
    package var json = JSONLimits()

    /// The defaults.
    package init() {}
  }
}
