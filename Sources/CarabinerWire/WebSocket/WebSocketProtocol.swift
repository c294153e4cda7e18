/// A subprotocol for GraphQL over a WebSocket. The raw value is its name in the handshake.
public enum WebSocketProtocol: String, Sendable, Hashable, CaseIterable {
  /// The protocol of the library graphql-ws, which current servers use.
  case graphQLTransportWS = "graphql-transport-ws"
  /// The older protocol of the library subscriptions-transport-ws.
  case graphQLWS = "graphql-ws"
}
