internal import ArgumentParser
internal import Carabiner
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import NIOCore

/// The limits of a gateway for clients. A change needs a restart.
struct ServeLimits: ParsableArguments {
  private static let defaults = GatewayLimits()

  @Option(name: .long, help: "How large a request's body may be, as in 1MiB; more is answered with 413.", transform: size)
  var maximumBody = defaults.maximumBodyBytes

  @Option(name: .long, help: "How large a request's head may be; more is answered with 431.", transform: size)
  var maximumHead = defaults.maximumHeadBytes

  @Option(name: .long, help: "How many header fields a request may have; more are answered with 431.")
  var maximumHeadFields = defaults.maximumHeadFields

  @Option(name: .long, help: "How many operations may be under way at once; more wait.")
  var maximumOperations = defaults.maximumConcurrentOperations

  @Option(name: .long, help: "How many operations may wait; more are answered with 503.")
  var maximumWaiting = defaults.maximumWaitingOperations

  @Option(name: .long, help: "How many operations one address may have under way; more are answered with 429.")
  var maximumPerClient: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How many operations a client may send in a second, minute or hour, as in 100/s; more are answered with 429.",
      valueName: "number/s|m|h"), transform: requestRate)
  var rate: RequestRate?

  @Option(name: .long, help: "How many of them may come at once; the number of --rate unless it is given.")
  var rateBurst: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The field of a request that tells clients apart for --rate; take one that whoever stands in front sets, as clients may "
        + "write what they like. Without it, and in requests that lack it, the address does.", valueName: "header"))
  var rateKey: String?

  @Option(name: .long, help: "How many connections may be open.")
  var maximumConnections = defaults.maximumConnections

  @Option(name: .long, help: "How many operations one request may hold as a list.")
  var maximumBatch = defaults.maximumBatch

  @Option(name: .long, help: "How long a client may take for the head of a request, and for its body.", transform: time)
  var receiveTimeout = defaults.receiveTimeout

  @Option(
    name: .long, help: "How long a client may take nothing of an answer that waits for it; then its connection is closed.",
    transform: time)
  var sendTimeout = defaults.sendTimeout

  @Option(
    name: .long,
    help: "How many bytes of answers may wait for one client, as in 32MiB; further answers over HTTP/2 are cancelled.",
    transform: size)
  var maximumUnsentPerConnection = defaults.maximumUnsentPerConnection

  @Option(
    name: .long,
    help: "How many bytes of answers may wait for all clients; beyond that the connection that holds most is closed.",
    transform: size)
  var maximumUnsent = defaults.maximumUnsent

  @Option(name: .long, help: "How long a connection may stay open with nothing under way.", transform: time)
  var idleTimeout = defaults.idleTimeout

  @Flag(name: .long, inversion: .prefixedNo, help: "Whether clients may speak graphql-transport-ws over WebSockets.")
  var websocket = defaults.takesWebSockets

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Pages of this origin may connect by WebSocket, as https://example.org, or * for all; may be repeated. Those of the "
        + "gateway's own host may anyway.", valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(name: .long, help: "How large a message over a WebSocket may be; after a larger one it is closed.", transform: size)
  var maximumMessage = defaults.maximumMessageBytes

  @Option(name: .long, help: "How many operations one WebSocket may have under way.")
  var maximumPerSocket = defaults.maximumOperationsPerSocket

  @Option(
    name: .long, help: "How often a WebSocket is pinged; one that gave no sign of life since the last time is closed.",
    transform: time)
  var keepAlive = defaults.keepAlive

  @Option(
    name: .long, help: "How often a subscription over HTTP gets a sign of life, so that proxies and clients do not give it up.",
    transform: time)
  var heartbeat = defaults.heartbeat

  @Flag(
    name: .long,
    help: "Whether clients may speak HTTP/2: as ALPN agrees on with TLS, and without it those that know that they may.")
  var http2 = false

  @Option(name: .long, help: "How many requests one connection of HTTP/2 may have under way.")
  var maximumStreams = defaults.maximumStreams

  @Option(
    name: .long, help: "How many requests one connection of HTTP/2 may take back within 30 seconds; after more it is closed.")
  var maximumResets = defaults.maximumResets

  @Flag(name: .long, help: "Whether browsers that open the path are shown a page to try queries with.")
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
    throw ValidationError("\(text.debugDescription) is no rate; write a number and a unit, as in 100/s, 600/m or 5000/h")
  }
  return rate
}

private func time(_ text: String) throws -> TimeAmount {
  let time = try duration(text)
  guard time > .zero else { throw ValidationError("the time must be longer than 0") }
  return TimeAmount(time)
}
