internal import NIOCore
internal import NIOHTTP1

/// How an operation speaks on the WebSocket it came by, from any thread.
struct SocketLink: Sendable {
  /// What the client sent when it connected, and introduced itself.
  let headers: HTTPHeaders
  /// Who asks, by address.
  let client: String
  /// What the request for the connection is called, and with it all that comes over it.
  let requestID: String
  let loop: any EventLoop
  let socket: NIOLoopBound<SocketHandler>

  /// Sends a message, and waits until the client's system has taken it.
  ///
  /// - Throws: `CancellationError` if nobody is there to take it.
  func send(_ operation: SocketOperation, _ text: [UInt8]) async throws {
    let written = loop.makePromise(of: Void.self)
    loop.execute { socket.value.send(operation, text, written) }
    do {
      try await written.futureResult.get()
    } catch {
      throw CancellationError()
    }
  }

  /// Sends the last messages of an operation; nothing if the client has ended it.
  func end(_ operation: SocketOperation, _ texts: [[UInt8]]) {
    loop.execute { socket.value.end(operation, texts) }
  }
}
