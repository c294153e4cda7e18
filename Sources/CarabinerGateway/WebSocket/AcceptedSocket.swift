internal import Carabiner

/// A WebSocket whose handshake was accepted, and the values of the handshake that its operations use.
struct AcceptedSocket: Sendable {
  let service: SocketService
  var dialect = WebSocketProtocol.graphQLTransportWS
  /// The fields of the handshake.
  let headers: HTTPHeaders
  let client: String
  /// The path of the gateway.
  let path: String
  /// Whether the connection uses TLS.
  var isSecure = false
  /// Fields about the client for the upstream; nil for none.
  var forwarded: ForwardedFields?
}
