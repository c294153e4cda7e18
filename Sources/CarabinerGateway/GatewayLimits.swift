package import NIOCore

/// How much strangers may ask of a gateway.
package struct GatewayLimits: Sendable, Hashable {
  /// How large a request's body may be; more is answered with 413.
  package var maximumBodyBytes = 1 << 20
  /// How large the head of a request may be, its fields together; more is answered with 431.
  package var maximumHeadBytes = 32 << 10
  /// How many header fields a request may have.
  package var maximumHeadFields = 100
  /// How many operations may be under way at once; more wait.
  package var maximumConcurrentOperations = 1024
  /// How many operations may wait for their turn; more are answered with 503.
  package var maximumWaitingOperations = 1024
  /// How many operations one connection's address may have under way; more are answered with 429. Nil for no limit.
  package var maximumOperationsPerClient: Int?
  /// How many operations one client may send in a time; more are answered with 429. Nil for no limit.
  package var rate: RequestRate?
  /// How many connections may be open; further ones are accepted and closed.
  package var maximumConnections = 20_000
  /// How many operations one body may hold; 1 is none but the one.
  package var maximumBatch = 1
  /// How long a client may take for a head, and again for a body.
  package var receiveTimeout = TimeAmount.seconds(15)
  /// How long a client may take nothing of an answer that waits for it.
  package var sendTimeout = TimeAmount.seconds(30)
  /// How many bytes of answers may wait for the client of one connection; a further answer of HTTP/2 is cancelled.
  package var maximumUnsentPerConnection = 32 << 20
  /// How many bytes of answers may wait for all clients; after more the connection that holds most is closed.
  package var maximumUnsent = 512 << 20
  /// How long a connection may stay open with nothing under way.
  package var idleTimeout = TimeAmount.seconds(75)
  /// Whether clients may speak `graphql-transport-ws` over WebSockets.
  package var takesWebSockets = true
  /// Which pages may connect by WebSocket, beside those of the gateway's own host.
  package var allowedOrigins = OriginRule([])
  /// How large a message over a WebSocket may be; after a larger one it is closed with 1009.
  package var maximumMessageBytes = 1 << 20
  /// How many operations one WebSocket may have under way; more are answered with an error.
  package var maximumOperationsPerSocket = 100
  /// How often a WebSocket is looked after: who gave no sign of life from one time to the next is gone.
  package var keepAlive = TimeAmount.seconds(30)
  /// How often an answer that comes in pieces gives a sign of life while there is no result to send.
  package var heartbeat = TimeAmount.seconds(12)
  /// Whether clients may speak HTTP/2.
  package var takesHTTP2 = false
  /// How many requests one connection of HTTP/2 may have under way.
  package var maximumStreams = 100
  /// How many requests the client of one connection may take back within ``resetWindow``; after more it is closed.
  package var maximumResets = 200
  /// The time ``maximumResets`` is for.
  package static let resetWindow = TimeAmount.seconds(30)
  /// Whether browsers are shown a page to try queries with.
  package var servesQueryPage = false

  /// The defaults.
  package init() {}
}
