package import NIOCore
package import NIOHTTP1

/// A request that has been received completely.
package struct GatewayRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: ByteBuffer
  /// The IP address of the client, without the port.
  package let client: String

  /// The target up to the question mark.
  package var path: Substring { head.uri[..<endOfPath] }
  /// The target after the question mark; empty if it has none.
  package var query: Substring { head.uri[endOfPath...].dropFirst() }

  private var endOfPath: String.Index { head.uri.utf8.firstIndex(of: UInt8(ascii: "?")) ?? head.uri.endIndex }

  /// All values of a field, joined with commas; nil if the field is absent.
  package func header(_ name: String) -> String? {
    var joined: String?
    for (other, value) in head.headers where other.isField(name) { joined = joined.map { "\($0), \(value)" } ?? value }
    return joined
  }
}

/// Answers the requests of all connections.
package protocol RequestHandler: Sendable {
  /// Answers a request through its reply, now or later. Called on the connection's event loop, so it must not block.
  func handle(_ request: GatewayRequest, _ reply: GatewayReply)

  /// Accepts a WebSocket upgrade, or answers through the reply as for any other request. Called on the event loop, as
  /// ``handle(_:_:)`` is.
  ///
  /// - Returns: The upgrade that takes over the connection; nil if the reply has been used.
  func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade?

  /// Returns the response to a request that cannot be parsed. The connection is closed after it.
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
