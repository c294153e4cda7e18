public import NIOCore

/// How much strangers may ask of a gateway.
public struct GatewayLimits: Sendable, Hashable {
  /// How large a request's body may be; more is answered with 413.
  public var maximumBodyBytes = 1 << 20
  /// How large the head of a request may be, its fields together; more is answered with 431.
  public var maximumHeadBytes = 32 << 10
  /// How many header fields a request may have.
  public var maximumHeadFields = 100
  /// How many operations may be under way at once; more wait.
  public var maximumConcurrentOperations = 1024
  /// How many operations may wait for their turn; more are answered with 503.
  public var maximumWaitingOperations = 1024
  /// How many operations one connection's address may have under way; more are answered with 429. Nil for no limit.
  public var maximumOperationsPerClient: Int?
  /// How many operations one client may send in a time; more are answered with 429. Nil for no limit.
  public var rate: RequestRate?
  /// How many connections may be open; further ones are accepted and closed.
  public var maximumConnections = 20_000
  /// How many operations one body may hold; 1 is none but the one.
  public var maximumBatch = 1
  /// How long a client may take for a head, and again for a body.
  public var receiveTimeout = TimeAmount.seconds(15)
  /// How long a client may take nothing of an answer that waits for it.
  public var sendTimeout = TimeAmount.seconds(30)
  /// How many bytes of answers may wait for the client of one connection; a further answer of HTTP/2 is cancelled.
  public var maximumUnsentPerConnection = 32 << 20
  /// How many bytes of answers may wait for all clients; after more the connection that holds most is closed.
  public var maximumUnsent = 512 << 20
  /// How long a connection may stay open with nothing under way.
  public var idleTimeout = TimeAmount.seconds(75)
  /// Whether clients may speak `graphql-transport-ws` over WebSockets.
  public var takesWebSockets = true
  /// Which pages may connect by WebSocket, beside those of the gateway's own host.
  public var allowedOrigins = OriginRule([])
  /// How large a message over a WebSocket may be; after a larger one it is closed with 1009.
  public var maximumMessageBytes = 1 << 20
  /// How many operations one WebSocket may have under way; more are answered with an error.
  public var maximumOperationsPerSocket = 100
  /// How often a WebSocket is looked after: who gave no sign of life from one time to the next is gone.
  public var keepAlive = TimeAmount.seconds(30)
  /// How often an answer that comes in pieces gives a sign of life while there is no result to send.
  public var heartbeat = TimeAmount.seconds(12)
  /// Whether clients may speak HTTP/2.
  public var takesHTTP2 = false
  /// How many requests one connection of HTTP/2 may have under way.
  public var maximumStreams = 100
  /// How many requests the client of one connection may take back within ``resetWindow``; after more it is closed.
  public var maximumResets = 200
  /// The time ``maximumResets`` is for.
  public static let resetWindow = TimeAmount.seconds(30)
  /// Whether browsers are shown a page to try queries with.
  public var servesQueryPage = false

  /// The defaults.
  public init() {}
}
