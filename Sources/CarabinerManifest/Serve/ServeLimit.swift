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

  package var kind: Kind { definition.kind }

  /// The value if neither a flag nor the manifest has one; nil for no limit.
  package var defaultValue: LimitValue? { definition.defaultValue }

  /// The effect of the limit, for the help of the flag and the description of the key.
  package var summary: String { definition.summary }

  private struct Definition {
    let kind: Kind
    let defaultValue: LimitValue?
    let summary: String

    init(_ kind: Kind, _ defaultValue: LimitValue?, _ summary: String) {
      (self.kind, self.defaultValue, self.summary) = (kind, defaultValue, summary)
    }
  }

  private var definition: Definition {
    switch self {
    case .maximumBody:
      Definition(
        .size(1...1 << 30), .number(1 << 20), "The largest request body, such as 1MiB. Larger ones are answered with 413.")
    case .maximumHead:
      Definition(.size(256...1 << 20), .number(32 << 10), "The largest request head. Larger ones are answered with 431.")
    case .maximumHeadFields:
      Definition(.count(10...10_000), .number(100), "The most headers of a request. More are answered with 431.")
    case .maximumOperations:
      Definition(.count(1...1_000_000), .number(1024), "The most concurrent operations. Further ones wait.")
    case .maximumWaiting:
      Definition(.count(0...1_000_000), .number(1024), "The most waiting operations. Further ones are answered with 503.")
    case .maximumPerClient:
      Definition(
        .count(1...1_000_000), nil, "The most concurrent operations of one client address. Further ones are answered with 429.")
    case .rate:
      Definition(
        .rate, nil,
        "The most operations of a client per second, minute or hour, such as 100/s. Further ones are answered with 429.")
    case .rateBurst:
      Definition(.count(1...1_000_000), nil, "The largest burst of operations. The default is the number of the rate.")
    case .rateKey:
      Definition(
        .headerName, nil,
        "The request header that identifies a client for the rate. Use one that a proxy in front sets, because clients can send any "
          + "value. Without it, or if a request lacks it, the address identifies the client.")
    case .maximumConnections:
      Definition(.count(1...1_000_000), .number(20_000), "The most open connections.")
    case .maximumBatch:
      Definition(.count(1...1000), .number(1), "The most operations in one batch request.")
    case .maximumFiles:
      Definition(.count(0...1000), .number(10), "The most files of an upload. With 0, uploads are not accepted.")
    case .maximumFile:
      Definition(.size(1...1 << 40), .number(64 << 20), "The largest file of an upload. Larger ones are answered with 413.")
    case .maximumUpload:
      Definition(
        .size(1...1 << 40), .number(256 << 20), "The largest upload with all its files. Larger ones are answered with 413.")
    case .uploadTimeout:
      Definition(
        .duration, .duration(.seconds(300)),
        "The time limit for receiving an upload. A client that sends nothing for receive-timeout is also refused.")
    case .receiveTimeout:
      Definition(.duration, .duration(.seconds(15)), "The time limit for receiving the head of a request, and for its body.")
    case .sendTimeout:
      Definition(
        .duration, .duration(.seconds(30)),
        "The time after which a connection is closed if the client reads nothing of its response.")
    case .maximumUnsentPerConnection:
      Definition(
        .size(1...1 << 40), .number(32 << 20),
        "The most unsent bytes of responses per connection, such as 32MiB. Further responses over HTTP/2 are cancelled.")
    case .maximumUnsent:
      Definition(
        .size(1...1 << 40), .number(512 << 20),
        "The most unsent bytes of responses of all connections. Above it, the connection with the most is closed.")
    case .idleTimeout:
      Definition(.duration, .duration(.seconds(75)), "The time after which an idle connection is closed.")
    case .webSocket:
      Definition(.truth, .truth(true), "Whether clients may use graphql-transport-ws over WebSockets.")
    case .legacyWebSocket:
      Definition(.truth, .truth(false), "Whether clients may also use the older protocol graphql-ws over WebSockets.")
    case .allowOrigin:
      Definition(
        .origins, .texts([]),
        "An origin whose pages may connect by WebSocket, such as https://example.org, or * for all. May be repeated. Pages of the "
          + "gateway's own host are always allowed.")
    case .maximumMessage:
      Definition(
        .size(1...1 << 30), .number(1 << 20), "The largest WebSocket message. After a larger one, the WebSocket is closed.")
    case .maximumFragments:
      Definition(
        .count(1...1_000_000), .number(16_384), "The most fragments of a WebSocket message. After more, the WebSocket is closed.")
    case .maximumPerSocket:
      Definition(.count(1...1_000_000), .number(100), "The most concurrent operations of one WebSocket.")
    case .keepAlive:
      Definition(
        .duration, .duration(.seconds(30)), "The interval of pings over a WebSocket. A client that misses a ping is disconnected."
      )
    case .heartbeat:
      Definition(
        .duration, .duration(.seconds(12)),
        "The interval of heartbeats in subscriptions over HTTP, which keep proxies and clients connected.")
    case .http2:
      Definition(
        .truth, .truth(false), "Whether clients may use HTTP/2: with TLS by ALPN, without TLS clients with prior knowledge (h2c)."
      )
    case .maximumStreams:
      Definition(.count(1...100_000), .number(100), "The most concurrent requests of one HTTP/2 connection.")
    case .maximumResets:
      Definition(
        .count(1...1_000_000), .number(200),
        "The most requests that one HTTP/2 connection may reset within 30 seconds. After more, it is closed.")
    case .queryPage:
      Definition(.truth, .truth(false), "Whether browsers that open the path get a page to try queries.")
    }
  }
}
