/// Gets the changes of the connection of a ``WebSocketTransport``, one at a time.
///
/// Each method has a default that does nothing. The methods may block, and may use the transport.
public protocol WebSocketTransportDelegate: AnyObject, Sendable {
  /// The server acknowledged the first connection.
  func webSocketTransportDidConnect(_ webSocketTransport: WebSocketTransport)

  /// The server acknowledged a later connection.
  func webSocketTransportDidReconnect(_ webSocketTransport: WebSocketTransport)

  /// An open connection was lost or closed.
  ///
  /// - Parameter error: The reason; nil if this side closed the connection in good order.
  func webSocketTransport(_ webSocketTransport: WebSocketTransport, didDisconnectWithError error: (any Error)?)
}

extension WebSocketTransportDelegate {
  public func webSocketTransportDidConnect(_ webSocketTransport: WebSocketTransport) {}
  public func webSocketTransportDidReconnect(_ webSocketTransport: WebSocketTransport) {}
  public func webSocketTransport(_ webSocketTransport: WebSocketTransport, didDisconnectWithError error: (any Error)?) {}
}
