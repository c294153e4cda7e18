internal import CarabinerGateway
internal import CarabinerSchema
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A small GraphQL library over HTTP, served by the gateway's HTTP server.
package struct DemoServer: Sendable {
  /// Receives a line for each request, with the time until its response was ready.
  package typealias Note = @Sendable (_ line: String, _ time: Duration) -> Void

  /// The time that running requests have to finish when the server stops.
  private static let drainTime = Duration.seconds(3)

  private let configuration: Configuration
  private let site: DemoSite
  private let pauses: Pauses
  private let note: Note?
  private let onListening: @Sendable (Int) -> Void

  /// - Parameters:
  ///   - note: Called for each request; nil to log none.
  ///   - onListening: Called with the port once connections are accepted.
  package init(_ configuration: Configuration, note: Note?, onListening: @escaping @Sendable (_ port: Int) -> Void) {
    let pauses = Pauses()
    self.configuration = configuration
    self.pauses = pauses
    self.note = note
    self.onListening = onListening
    site = DemoSite(settings: DemoSite.Settings(configuration)) { try await pauses.pause($0) }
  }

  /// The schema of the library in the schema definition language.
  package static var schema: String { Schema.library.text() }

  /// Serves until a wait returns.
  ///
  /// - Throws: ``CarabinerGateway/GatewayError`` if it cannot listen.
  package func run(until wait: () async -> Void) async throws {
    var limits = GatewayLimits()
    limits.maximumBodyBytes = configuration.maximumBodyBytes
    limits.takesWebSockets = false
    let server = try await GatewayServer(
      .tcp(host: configuration.host, port: configuration.port), group: MultiThreadedEventLoopGroup.singleton,
      ListenerSettings(handler: AnsweringHandler(refusal: refusal, answer: answer)), settings: CurrentSettings(limits: limits))
    onListening(server.address?.port ?? configuration.port)
    await wait()
    pauses.end()
    // A cancelled task cannot wait for running requests, so a new task does.
    await Task { await server.shutDown(within: Self.drainTime) }.value
  }

  private func answer(_ request: GatewayRequest) async -> HTTPAnswer {
    let start = ContinuousClock.now
    let reply = await site.reply(
      to: DemoRequest(
        method: request.head.method.rawValue, target: request.head.target,
        headers: request.headersByName,
        body: Array(request.body.readableBytesView)))
    let (body, length): (HTTPAnswer.Body, String)
    switch reply.body {
    case .whole(let bytes): (body, length) = (.whole(ByteBuffer(bytes: bytes)), "\(bytes.count) bytes")
    case .streamed(let parts):
      length = "in parts"
      body = .streamed { send in
        for await part in parts { try await send(ByteBuffer(bytes: part)) }
      }
    }
    note?(
      "\(request.head.method) \(request.path) \(reply.status) \(reply.headers["Content-Type"] ?? ""), \(length)", .now - start)
    return HTTPAnswer(HTTPResponseStatus(statusCode: reply.status), NIOHTTP1.HTTPHeaders(reply), body)
  }

  private func refusal(_ status: HTTPResponseStatus, _ message: String) -> (headers: NIOHTTP1.HTTPHeaders, body: ByteBuffer) {
    let code = status == .payloadTooLarge ? "CONTENT_TOO_LARGE" : "BAD_REQUEST"
    let reply = site.reply(to: RequestRefusal(Int(status.code), message, code: code))
    guard case .whole(let bytes) = reply.body else { return (NIOHTTP1.HTTPHeaders(reply), ByteBuffer()) }
    return (NIOHTTP1.HTTPHeaders(reply), ByteBuffer(bytes: bytes))
  }
}

extension NIOHTTP1.HTTPHeaders {
  fileprivate init(_ reply: DemoReply) { self.init(reply.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
}
