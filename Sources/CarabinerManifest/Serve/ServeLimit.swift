/// A limit of a gateway for its clients: a key of `serve.limits` in a manifest, and a flag of `carabiner serve` with the same name.
package enum ServeLimit: String, Sendable, Hashable, CaseIterable {
  case maximumBody = "maximum-body"
  case maximumHead = "maximum-head"
  case maximumHeadFields = "maximum-head-fields"
  case maximumOperations = "maximum-operations"
  case maximumWaiting = "maximum-waiting"
  case maximumPerClient = "maximum-per-client"
  case rate
  case rateBurst = "rate-burst"
  case rateKey = "rate-key"
  case maximumConnections = "maximum-connections"
  case maximumBatch = "maximum-batch"
  case maximumFiles = "maximum-files"
  case maximumFile = "maximum-file"
  case maximumUpload = "maximum-upload"
  case uploadTimeout = "upload-timeout"
  case receiveTimeout = "receive-timeout"
  case sendTimeout = "send-timeout"
  case maximumUnsentPerConnection = "maximum-unsent-per-connection"
  case maximumUnsent = "maximum-unsent"
  case idleTimeout = "idle-timeout"
  case webSocket = "websocket"
  case legacyWebSocket = "legacy-websocket"
  case allowOrigin = "allow-origin"
  case maximumMessage = "maximum-message"
  case maximumFragments = "maximum-fragments"
  case maximumPerSocket = "maximum-per-socket"
  case keepAlive = "keep-alive"
  case heartbeat
  case http2
  case maximumStreams = "maximum-streams"
  case maximumResets = "maximum-resets"
  case queryPage = "query-page"

  /// The values that a limit may have.
  package enum Kind: Sendable, Hashable {
    /// A number of bytes.
    case size(ClosedRange<Int>)
    case count(ClosedRange<Int>)
    /// A duration longer than zero.
    case duration
    case truth
    /// Requests per unit of time, such as `100/s`.
    case rate
    case headerName
    /// Origins of pages, `*` for all.
    case origins
  }

  package var kind: Kind {
    switch self {
    case .maximumBody, .maximumMessage: .size(1...1 << 30)
    case .maximumHead: .size(256...1 << 20)
    case .maximumUnsentPerConnection, .maximumUnsent, .maximumFile, .maximumUpload: .size(1...1 << 40)
    case .maximumHeadFields: .count(10...10_000)
    case .maximumWaiting: .count(0...1_000_000)
    case .maximumBatch: .count(1...1000)
    case .maximumFiles: .count(0...1000)
    case .maximumStreams: .count(1...100_000)
    case .maximumOperations, .maximumPerClient, .rateBurst, .maximumConnections, .maximumFragments, .maximumPerSocket,
      .maximumResets:
      .count(1...1_000_000)
    case .receiveTimeout, .uploadTimeout, .sendTimeout, .idleTimeout, .keepAlive, .heartbeat: .duration
    case .webSocket, .legacyWebSocket, .http2, .queryPage: .truth
    case .rate: .rate
    case .rateKey: .headerName
    case .allowOrigin: .origins
    }
  }

  /// The value if neither a flag nor the manifest has one; nil for no limit.
  package var defaultValue: LimitValue? {
    switch self {
    case .maximumBody, .maximumMessage: .number(1 << 20)
    case .maximumHead: .number(32 << 10)
    case .maximumHeadFields, .maximumPerSocket, .maximumStreams: .number(100)
    case .maximumOperations, .maximumWaiting: .number(1024)
    case .maximumPerClient, .rate, .rateBurst, .rateKey: nil
    case .maximumConnections: .number(20_000)
    case .maximumBatch: .number(1)
    case .maximumFiles: .number(10)
    case .maximumFile: .number(64 << 20)
    case .maximumUpload: .number(256 << 20)
    case .uploadTimeout: .duration(.seconds(300))
    case .receiveTimeout: .duration(.seconds(15))
    case .sendTimeout, .keepAlive: .duration(.seconds(30))
    case .maximumUnsentPerConnection: .number(32 << 20)
    case .maximumUnsent: .number(512 << 20)
    case .idleTimeout: .duration(.seconds(75))
    case .webSocket: .truth(true)
    case .legacyWebSocket, .http2, .queryPage: .truth(false)
    case .allowOrigin: .texts([])
    case .heartbeat: .duration(.seconds(12))
    case .maximumFragments: .number(16_384)
    case .maximumResets: .number(200)
    }
  }

  /// The effect of the limit, for the help of the flag and the description of the key.
  package var summary: String {
    switch self {
    case .maximumBody: "The largest request body, such as 1MiB. Larger ones are answered with 413."
    case .maximumHead: "The largest request head. Larger ones are answered with 431."
    case .maximumHeadFields: "The most headers of a request. More are answered with 431."
    case .maximumOperations: "The most concurrent operations. Further ones wait."
    case .maximumWaiting: "The most waiting operations. Further ones are answered with 503."
    case .maximumPerClient: "The most concurrent operations of one client address. Further ones are answered with 429."
    case .rate: "The most operations of a client per second, minute or hour, such as 100/s. Further ones are answered with 429."
    case .rateBurst: "The largest burst of operations. The default is the number of the rate."
    case .rateKey:
      "The request header that identifies a client for the rate. Use one that a proxy in front sets, because clients can send any "
        + "value. Without it, or if a request lacks it, the address identifies the client."
    case .maximumConnections: "The most open connections."
    case .maximumBatch: "The most operations in one batch request."
    case .maximumFiles: "The most files of an upload. With 0, uploads are not accepted."
    case .maximumFile: "The largest file of an upload. Larger ones are answered with 413."
    case .maximumUpload: "The largest upload with all its files. Larger ones are answered with 413."
    case .uploadTimeout:
      "The time limit for receiving an upload. A client that sends nothing for receive-timeout is also refused."
    case .receiveTimeout: "The time limit for receiving the head of a request, and for its body."
    case .sendTimeout: "The time after which a connection is closed if the client reads nothing of its response."
    case .maximumUnsentPerConnection:
      "The most unsent bytes of responses per connection, such as 32MiB. Further responses over HTTP/2 are cancelled."
    case .maximumUnsent:
      "The most unsent bytes of responses of all connections. Above it, the connection with the most is closed."
    case .idleTimeout: "The time after which an idle connection is closed."
    case .webSocket: "Whether clients may use graphql-transport-ws over WebSockets."
    case .legacyWebSocket: "Whether clients may also use the older protocol graphql-ws over WebSockets."
    case .allowOrigin:
      "An origin whose pages may connect by WebSocket, such as https://example.org, or * for all. May be repeated. Pages of the "
        + "gateway's own host are always allowed."
    case .maximumMessage: "The largest WebSocket message. After a larger one, the WebSocket is closed."
    case .maximumFragments: "The most fragments of a WebSocket message. After more, the WebSocket is closed."
    case .maximumPerSocket: "The most concurrent operations of one WebSocket."
    case .keepAlive: "The interval of pings over a WebSocket. A client that misses a ping is disconnected."
    case .heartbeat: "The interval of heartbeats in subscriptions over HTTP, which keep proxies and clients connected."
    case .http2: "Whether clients may use HTTP/2: with TLS by ALPN, without TLS clients with prior knowledge (h2c)."
    case .maximumStreams: "The most concurrent requests of one HTTP/2 connection."
    case .maximumResets: "The most requests that one HTTP/2 connection may reset within 30 seconds. After more, it is closed."
    case .queryPage: "Whether browsers that open the path get a page to try queries."
    }
  }
}
