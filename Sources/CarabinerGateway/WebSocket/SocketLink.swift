internal import Carabiner
internal import NIOCore

/// The connection of an operation to its WebSocket. It may be used from any thread.
struct SocketLink: Sendable {
  /// The fields of the handshake, with those of `connection_init`.
  let headers: HTTPHeaders
  /// The IP address of the client.
  let client: String
  /// The path of the gateway.
  let path: String
  /// Whether the connection uses TLS.
  let isSecure: Bool
  /// Fields about the client for the upstream; nil for none.
  let forwarded: ForwardedFields?
  /// The request ID of the handshake, which all operations of the connection share.
  let requestID: String
  let loop: any EventLoop
  let socket: NIOLoopBound<SocketHandler>

  /// Sends a message, and waits until the system has accepted it.
  ///
  /// - Throws: `CancellationError` if the client has ended the operation or disconnected.
  func send(_ operation: SocketOperation, _ text: [UInt8]) async throws {
    let written = loop.makePromise(of: Void.self)
    loop.execute { socket.value.send(operation, text, written) }
    do {
      try await written.futureResult.get()
    } catch {
      throw CancellationError()
    }
  }

  /// Sends the last messages of an operation. Does nothing if the client has ended it.
  func end(_ operation: SocketOperation, _ texts: [[UInt8]]) {
    loop.execute { socket.value.end(operation, texts) }
  }
}
