/// How GraphQL is spoken over a WebSocket; the raw value is the name both sides agree on in the handshake.
public enum WebSocketProtocol: String, Sendable, Hashable, CaseIterable {
  /// The protocol of the library graphql-ws, which new servers speak.
  case graphQLTransportWS = "graphql-transport-ws"
  /// The older protocol of the library subscriptions-transport-ws.
  case graphQLWS = "graphql-ws"
}
