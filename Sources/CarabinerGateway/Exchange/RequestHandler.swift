package import Carabiner
package import NIOCore
package import NIOHTTP1

/// Answers the requests of all connections.
package protocol RequestHandler: Sendable {
  /// Answers a request through its reply, now or later. Called on the connection's event loop, so it must not block.
  func handle(_ request: GatewayRequest, _ reply: GatewayReply)

  /// Whether a request is handled as soon as its head has arrived, because its body may be too long for the memory.
  /// Called only if the Content-Type may be that of a form.
  func takesUpload(_ head: RequestHead) -> Bool

  /// Accepts a WebSocket upgrade, or answers through the reply as for any other request. Called on the event loop, as
  /// ``handle(_:_:)`` is.
  ///
  /// - Returns: The upgrade that takes over the connection; nil if the reply has been used.
  func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade?

  /// Returns the response to a request that cannot be parsed. The connection is closed after it.
  ///
  /// - Parameter message: What is wrong with the request.
  func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: NIOHTTP1.HTTPHeaders, body: ByteBuffer)

  /// Returns further fields of the response of ``refusal(_:_:)``.
  ///
  /// - Parameter headers: The fields of the request that are known.
  func refusalFields(_ headers: Carabiner.HTTPHeaders) -> NIOHTTP1.HTTPHeaders
}

extension RequestHandler {
  package func refusalFields(_ headers: Carabiner.HTTPHeaders) -> NIOHTTP1.HTTPHeaders { [:] }

  package func takesUpload(_ head: RequestHead) -> Bool { false }

  package func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade? {
    handle(request, reply)
    return nil
  }

  package func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: NIOHTTP1.HTTPHeaders, body: ByteBuffer) {
    let body = ByteBuffer(bytes: RefusalText.json(message, code: RefusalText.code(of: status)))
    return (["Content-Type": "application/json"], body)
  }
}
