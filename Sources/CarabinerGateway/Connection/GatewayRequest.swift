package import Carabiner
package import NIOCore
package import NIOHTTP1

/// A request that has been received completely, or an upload whose head has been received.
///
/// A class, because many functions and closures keep it.
package final class GatewayRequest: Sendable {
  package let head: RequestHead
  package let body: ByteBuffer
  /// The body of an upload, which is still arriving; nil for other requests.
  package let upload: InboundBody?
  package let origin: RequestOrigin

  init(head: RequestHead, body: ByteBuffer, origin: RequestOrigin, upload: InboundBody? = nil) {
    self.head = head
    self.body = body
    self.origin = origin
    self.upload = upload
  }

  /// The IP address of the client, without the port.
  package var client: String { origin.client }

  /// The target up to the question mark.
  package var path: Substring { head.path }
  /// The target after the question mark; empty if it has none.
  package var query: Substring { head.target[head.endOfPath...].dropFirst() }

  /// All values of a field, joined with commas; nil if the field is absent.
  package func header(_ name: String) -> String? {
    let headers = head.headers
    guard let first = headers.firstIndex(of: name) else { return nil }
    let value = headers.value(at: first)
    guard headers.firstIndex(of: name, from: first + 1) != nil else { return value }
    return headers.values(for: name).joined(separator: ", ")
  }

  /// The headers by their names in lower case. Values of one name are joined with commas.
  package var headersByName: [String: String] {
    Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
  }
}

/// Answers the requests of all connections.
package protocol RequestHandler: Sendable {
  /// Answers a request through its reply, now or later. Called on the connection's event loop, so it must not block.
  func handle(_ request: GatewayRequest, _ reply: GatewayReply)

  /// Whether a request is handled when its head has arrived, because its body may be too long for the memory.
  /// Asked only if the Content-Type begins as that of a form does.
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

  /// Returns further fields of such a response, for the fields of the request that are known.
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
