internal import ArgumentParser
internal import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import NIOCore

/// The limits of a gateway for clients. A change needs a restart.
struct ServeLimits: ParsableArguments {
  private static let defaults = GatewayLimits()

  @Option(name: .long, help: "The largest request body, such as 1MiB. Larger ones are answered with 413.", transform: size)
  var maximumBody = defaults.maximumBodyBytes

  @Option(name: .long, help: "The largest request head. Larger ones are answered with 431.", transform: size)
  var maximumHead = defaults.maximumHeadBytes

  @Option(name: .long, help: "The most headers of a request. More are answered with 431.")
  var maximumHeadFields = defaults.maximumHeadFields

  @Option(name: .long, help: "The most concurrent operations. Further ones wait.")
  var maximumOperations = defaults.maximumConcurrentOperations

  @Option(name: .long, help: "The most waiting operations. Further ones are answered with 503.")
  var maximumWaiting = defaults.maximumWaitingOperations

  @Option(name: .long, help: "The most concurrent operations of one client address. Further ones are answered with 429.")
  var maximumPerClient: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The most operations of a client per second, minute or hour, such as 100/s. Further ones are answered with 429.",
      valueName: "number/s|m|h"), transform: requestRate)
  var rate: RequestRate?

  @Option(name: .long, help: "The largest burst of operations. The default is the number of --rate.")
  var rateBurst: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The request header that identifies a client for --rate. Use one that a proxy in front sets, because clients can send any "
        + "value. Without it, or if a request lacks it, the address identifies the client.", valueName: "header"))
  var rateKey: String?

  @Option(name: .long, help: "The most open connections.")
  var maximumConnections = defaults.maximumConnections

  @Option(name: .long, help: "The most operations in one batch request.")
  var maximumBatch = defaults.maximumBatch

  @Option(name: .long, help: "The time limit for receiving the head of a request, and for its body.", transform: time)
  var receiveTimeout = defaults.receiveTimeout

  @Option(
    name: .long, help: "The time after which a connection is closed if the client reads nothing of its response.",
    transform: time)
  var sendTimeout = defaults.sendTimeout

  @Option(
    name: .long,
    help: "The most unsent bytes of responses per connection, such as 32MiB. Further responses over HTTP/2 are cancelled.",
    transform: size)
  var maximumUnsentPerConnection = defaults.maximumUnsentPerConnection

  @Option(
    name: .long,
    help: "The most unsent bytes of responses of all connections. Above it, the connection with the most is closed.",
    transform: size)
  var maximumUnsent = defaults.maximumUnsent

  @Option(name: .long, help: "The time after which an idle connection is closed.", transform: time)
  var idleTimeout = defaults.idleTimeout

  @Flag(name: .long, inversion: .prefixedNo, help: "Whether clients may use graphql-transport-ws over WebSockets.")
  var websocket = defaults.takesWebSockets

  @Flag(name: .long, help: "Whether clients may also use the older protocol graphql-ws over WebSockets.")
  var legacyWebsocket = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "An origin whose pages may connect by WebSocket, such as https://example.org, or * for all. May be repeated. Pages of the "
        + "gateway's own host are always allowed.", valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(name: .long, help: "The largest WebSocket message. After a larger one, the WebSocket is closed.", transform: size)
  var maximumMessage = defaults.maximumMessageBytes

  @Option(name: .long, help: "The most concurrent operations of one WebSocket.")
  var maximumPerSocket = defaults.maximumOperationsPerSocket

  @Option(
    name: .long, help: "The interval of pings over a WebSocket. A client that misses a ping is disconnected.",
    transform: time)
  var keepAlive = defaults.keepAlive

  @Option(
    name: .long, help: "The interval of heartbeats in subscriptions over HTTP, which keep proxies and clients connected.",
    transform: time)
  var heartbeat = defaults.heartbeat

  @Flag(
    name: .long,
    help: "Whether clients may use HTTP/2: with TLS by ALPN, without TLS clients with prior knowledge (h2c).")
  var http2 = false

  @Option(name: .long, help: "The most concurrent requests of one HTTP/2 connection.")
  var maximumStreams = defaults.maximumStreams

  @Option(
    name: .long, help: "The most requests that one HTTP/2 connection may reset within 30 seconds. After more, it is closed.")
  var maximumResets = defaults.maximumResets

  @Flag(name: .long, help: "Whether browsers that open the path get a page to try queries.")
  var queryPage = false

  func validate() throws {
    func check(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
      guard range.contains(value) else {
        throw ValidationError("--\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
      }
    }
    try check(maximumBody, 1...1 << 30, "maximum-body")
    try check(maximumHead, 256...1 << 20, "maximum-head")
    try check(maximumHeadFields, 10...10_000, "maximum-head-fields")
    try check(maximumUnsentPerConnection, 1...1 << 40, "maximum-unsent-per-connection")
    try check(maximumUnsent, 1...1 << 40, "maximum-unsent")
    try check(maximumOperations, 1...1_000_000, "maximum-operations")
    try check(maximumWaiting, 0...1_000_000, "maximum-waiting")
    try check(maximumPerClient ?? 1, 1...1_000_000, "maximum-per-client")
    try check(rateBurst ?? 1, 1...1_000_000, "rate-burst")
    if rate == nil, rateBurst != nil || rateKey != nil { throw ValidationError("--rate-burst and --rate-key need --rate") }
    if let rateKey, !HTTPHeaders.Field(name: rateKey, value: "").isWellFormed {
      throw ValidationError("--rate-key takes the name of a header")
    }
    try check(maximumConnections, 1...1_000_000, "maximum-connections")
    try check(maximumBatch, 1...1000, "maximum-batch")
    if legacyWebsocket, !websocket { throw ValidationError("--legacy-websocket and --no-websocket contradict each other") }
    try check(maximumMessage, 1...1 << 30, "maximum-message")
    try check(maximumPerSocket, 1...1_000_000, "maximum-per-socket")
    try check(maximumStreams, 1...100_000, "maximum-streams")
    try check(maximumResets, 1...1_000_000, "maximum-resets")
    for origin in allowOrigin where origin != "*" && origin != "null" && !origin.contains("://") {
      throw ValidationError("--allow-origin takes an origin as https://example.org, or *, not \(origin.debugDescription)")
    }
  }

  var gateway: GatewayLimits {
    var limits = GatewayLimits()
    limits.maximumBodyBytes = maximumBody
    limits.maximumHeadBytes = maximumHead
    limits.maximumHeadFields = maximumHeadFields
    limits.sendTimeout = sendTimeout
    limits.maximumUnsentPerConnection = maximumUnsentPerConnection
    limits.maximumUnsent = maximumUnsent
    limits.maximumConcurrentOperations = maximumOperations
    limits.maximumWaitingOperations = maximumWaiting
    limits.maximumOperationsPerClient = maximumPerClient
    limits.rate = rate
    if let rateBurst { limits.rate?.burst = rateBurst }
    limits.rate?.keyField = rateKey
    limits.maximumConnections = maximumConnections
    limits.maximumBatch = maximumBatch
    limits.receiveTimeout = receiveTimeout
    limits.idleTimeout = idleTimeout
    limits.servesQueryPage = queryPage
    limits.takesHTTP2 = http2
    limits.maximumStreams = maximumStreams
    limits.maximumResets = maximumResets
    limits.takesWebSockets = websocket
    limits.takesLegacyWebSockets = legacyWebsocket
    limits.allowedOrigins = OriginRule(allowOrigin)
    limits.maximumMessageBytes = maximumMessage
    limits.maximumOperationsPerSocket = maximumPerSocket
    limits.keepAlive = keepAlive
    limits.heartbeat = heartbeat
    return limits
  }
}

/// A size with its unit.
func size(_ text: String) throws -> Int {
  do throws(MalformedQuantity) {
    return try ByteSizeText.parse(text)
  } catch {
    throw ValidationError(error.description)
  }
}

private func requestRate(_ text: String) throws -> RequestRate {
  guard let rate = RequestRate(text) else {
    throw ValidationError("\(text.debugDescription) is not a rate; write a number and a unit, as in 100/s, 600/m or 5000/h")
  }
  return rate
}

private func time(_ text: String) throws -> TimeAmount {
  let time = try duration(text)
  guard time > .zero else { throw ValidationError("the time must be longer than 0") }
  return TimeAmount(time)
}
