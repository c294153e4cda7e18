package import NIOCore
package import NIOHTTP1

/// A request that has come whole.
package struct GatewayRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: ByteBuffer
  /// Who asks, by address without port.
  package let client: String

  /// What stands before the question mark.
  package var path: Substring { head.uri.prefix { $0 != "?" } }
  /// What stands behind the question mark; empty if there is none.
  package var query: Substring { head.uri.drop { $0 != "?" }.dropFirst() }

  /// All values of a field, as one.
  package func header(_ name: String) -> String? {
    let values = head.headers[name]
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}

/// Answers the requests of all connections.
package protocol RequestHandler: Sendable {
  /// Answers a request by its reply, now or later; called on the connection's event loop, where nothing may block.
  func handle(_ request: GatewayRequest, _ reply: GatewayReply)

  /// Agrees to a WebSocket, or answers by the reply as any other request; called where ``handle(_:_:)`` is.
  ///
  /// - Returns: What takes the connection over; nil if the reply has the answer.
  func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade?

  /// The answer to a request that cannot be read; the connection ends with it.
  ///
  /// - Parameter message: What is wrong with the request.
  func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: HTTPHeaders, body: ByteBuffer)
}

extension RequestHandler {
  package func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade? {
    handle(request, reply)
    return nil
  }

  package func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: HTTPHeaders, body: ByteBuffer) {
    let body = ByteBuffer(bytes: RefusalText.json(message, code: RefusalText.code(of: status)))
    return (["Content-Type": "application/json"], body)
  }
}
