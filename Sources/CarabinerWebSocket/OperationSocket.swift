package import Carabiner
package import FoundationEssentials
internal import Synchronization

/// A change of a connection.
package enum SocketChange: Sendable {
  /// The server acknowledged the first connection.
  case connected
  /// The server acknowledged a later connection.
  case reconnected
  /// The connection ended: with an error, or because this side closed it.
  case disconnected(WebSocketError?)
}

/// One WebSocket, for the transports of other generations. Releasing it closes the connection.
package final class OperationSocket: Sendable {
  private let socket: SocketHandle
  private let headers: Mutex<HTTPHeaders>

  /// A socket without a connection.
  ///
  /// - Parameters:
  ///   - keepsConnection: Whether a connection stays open without operations, and is opened again if it is lost.
  ///   - observer: Gets the changes of the connection, in order.
  /// - Throws: ``WebSocketError`` if the URL is not a WebSocket URL, or if a header is malformed.
  package init(
    url: URL, headers: HTTPHeaders, configuration: WebSocketTransport.Configuration, keepsConnection: Bool,
    observer: @escaping @Sendable (SocketChange) -> Void
  ) throws {
    let opening = try SocketOpening(endpoint: WebSocketEndpoint(url), headers: headers, configuration: configuration)
    socket = SocketHandle(SocketDriver(opening, keepsConnection: keepsConnection, observer: observer))
    self.headers = Mutex(headers)
  }

  /// Starts an operation and returns its results. The stream does not keep the socket.
  ///
  /// It throws ``SubscriptionError`` if the server ends the operation with errors.
  package func results<Operation: GraphQLOperation>(
    of operation: Operation, payload: [UInt8]
  ) -> PullStream<GraphQLResponse<Operation>> {
    let results: SocketResults<Operation> = socket.driver.start(
      operation.operationType, payload: payload, progress: nil, throwsErrors: true)
    return PullStream { try await results.next() }
  }

  /// Ends the operation with this id on the connection, if there is one. Its reader gets a `CancellationError`.
  package func end(id: String) { socket.driver.end(id: id) }

  /// Opens a connection, also without operations.
  package func open() { socket.driver.open() }

  /// Closes the connection until ``resume()``.
  package func pause() { socket.driver.pause() }

  /// Ends a pause.
  package func resume() { socket.driver.resume() }

  /// Sets whether a lost connection is opened again.
  package func setReconnects(_ reconnects: Bool) { socket.driver.setReconnects(reconnects) }

  /// Sends a ping on an open connection, and calls `written` when it is written.
  package func ping(_ data: [UInt8], written: @escaping @Sendable () -> Void) { socket.driver.ping(data, written: written) }

  /// Changes the headers of the handshake, and connects again.
  ///
  /// - Throws: ``WebSocketError`` if a header is malformed. The previous headers are then kept.
  package func changeHeaders(_ change: (inout HTTPHeaders) -> Void) throws {
    try headers.withLock { headers in
      var changed = headers
      change(&changed)
      try socket.driver.opening.setHeaders(changed)
      headers = changed
    }
    socket.driver.reconnect()
  }

  /// Changes the payload of `connection_init`, and connects again.
  package func setConnectionPayload(_ payload: WebSocketTransport.ConnectionPayload?) {
    socket.driver.opening.setConnectionPayload(payload)
    socket.driver.reconnect()
  }

  /// Ends all operations, and closes the connection permanently.
  package func shutDown() { socket.driver.beginShutDown() }
}
