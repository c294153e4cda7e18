public import NIOCore

/// The limits that a gateway applies to its clients.
public struct GatewayLimits: Sendable, Hashable {
  /// The maximum size of a request body, in bytes. Larger ones are answered with 413.
  public var maximumBodyBytes = 1 << 20
  /// The maximum size of a request's head, in bytes. Larger ones are answered with 431.
  public var maximumHeadBytes = 32 << 10
  /// The maximum number of header fields of a request. A request with more is answered with 431.
  public var maximumHeadFields = 100
  /// The maximum number of operations in progress. Further ones wait.
  public var maximumConcurrentOperations = 1024
  /// The maximum number of operations that wait to start. Further ones are answered with 503.
  public var maximumWaitingOperations = 1024
  /// The maximum number of operations in progress per client address. Further ones are answered with 429. Nil for no limit.
  public var maximumOperationsPerClient: Int?
  /// The rate limit per client. Operations above it are answered with 429. Nil for no limit.
  public var rate: RequestRate?
  /// The maximum number of open connections. Further ones are accepted and closed at once.
  public var maximumConnections = 20_000
  /// The maximum number of operations in one body. With 1, batches are not accepted.
  public var maximumBatch = 1
  /// The maximum number of files in an upload. More are answered with 413. With 0, uploads are not accepted.
  public var maximumFiles = 10
  /// The maximum size of a file in an upload, in bytes. Larger ones are answered with 413.
  public var maximumFileBytes = 64 << 20
  /// The maximum size of an upload with all its files, in bytes. Larger ones are answered with 413.
  public var maximumUploadBytes = 256 << 20
  /// The time that a client has to send an upload. The time between two parts of it must not exceed ``receiveTimeout``. Late
  /// uploads are answered with 408.
  public var uploadTimeout = TimeAmount.minutes(5)
  /// The time that a client has to send the head, and again to send the body. If the head is late, the connection is closed. A late
  /// body is answered with 408.
  public var receiveTimeout = TimeAmount.seconds(15)
  /// The time within which a client must read some of the unsent data. Otherwise the connection is closed.
  public var sendTimeout = TimeAmount.seconds(30)
  /// The maximum number of unsent response bytes per connection. Further responses of an HTTP/2 connection are cancelled, and further
  /// results over a WebSocket are replaced by errors.
  public var maximumUnsentPerConnection = 32 << 20
  /// The maximum number of unsent response bytes of all connections. Above it, the connection with the most unsent bytes is
  /// closed.
  public var maximumUnsent = 512 << 20
  /// The maximum number of bytes of a body that are discarded after a refusal, so that the client can read the response. If more arrive,
  /// the connection is closed at once.
  public var maximumDiscardedBytes = 64 << 20
  /// The time after which a connection without a request is closed.
  public var idleTimeout = TimeAmount.seconds(75)
  /// Whether clients may use `graphql-transport-ws` over WebSockets.
  public var takesWebSockets = true
  /// Whether clients may also use the older protocol `graphql-ws` over WebSockets.
  public var takesLegacyWebSockets = false
  /// The origins of pages that may open a WebSocket, in addition to the gateway's own host.
  public var allowedOrigins = OriginRule([])
  /// The maximum size of a WebSocket message, in bytes. After a larger one the WebSocket is closed with 1009.
  public var maximumMessageBytes = 1 << 20
  /// The maximum number of fragments of a WebSocket message. After more, the WebSocket is closed with 1009.
  public var maximumFragments = Self.defaultMaximumFragments
  /// The default of ``maximumFragments``: the default of ``maximumMessageBytes`` in fragments of 64 bytes.
  public static let defaultMaximumFragments = 16_384
  /// The maximum number of operations in progress per WebSocket. Further ones are answered with an error.
  public var maximumOperationsPerSocket = 100
  /// The interval of WebSocket pings. A client from which nothing was received between two pings is disconnected.
  public var keepAlive = TimeAmount.seconds(30)
  /// The interval at which a response in pieces sends a heartbeat while no result is available.
  public var heartbeat = TimeAmount.seconds(12)
  /// Whether clients may use HTTP/2.
  public var takesHTTP2 = false
  /// The maximum number of requests in progress per HTTP/2 connection.
  public var maximumStreams = 100
  /// The maximum number of streams that a client may reset, or cause the gateway to reset, within ``resetWindow``. Above it, the
  /// connection is closed.
  public var maximumResets = 200
  /// The time window of ``maximumResets``.
  public static let resetWindow = TimeAmount.seconds(30)
  /// The maximum number of HTTP/2 frames that need no answer, such as WINDOW_UPDATE frames, those of unknown types, and empty ones. Each
  /// frame that is sent to the client allows ten more. If the client sends more, the connection is closed.
  public var maximumIdleFrames = 1000
  /// Whether browsers get a page for trying out queries.
  public var servesQueryPage = false

  /// Creates the default limits.
  public init() {}
}
