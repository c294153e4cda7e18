internal import CarabinerWire
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import UnixSignals

/// Brings a demo site to the wire, with Hummingbird.
struct DemoServer: Sendable {
  let site: DemoSite
  let host: String
  let port: Int
  let maximumBodyBytes: Int
  let isQuiet: Bool

  /// How long the answers under way may take once the server is told to stop.
  private static let drainTime = Duration.seconds(3)

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Parameter onReady: Is told the port once connections are accepted.
  func run(onReady: @escaping @Sendable (Int) -> Void) async throws {
    let logger = Logger(label: "demo-server")
    let application = Application(
      responder: CallbackResponder { (request: Request, _: BasicRequestContext) in try await respond(to: request) },
      configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: nil),
      onServerRunning: { channel in onReady(channel.localAddress?.port ?? port) },
      logger: logger)
    var configuration = ServiceGroupConfiguration(
      services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = Self.drainTime
    try await ServiceGroup(configuration: configuration).run()
  }

  /// Waits; throws when the server is told to stop.
  static func pause(_ duration: Duration) async throws {
    try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
  }

  private func respond(to request: Request) async throws -> Response {
    let start = ContinuousClock.now
    let body: [UInt8]
    do {
      body = Array(buffer: try await request.body.collect(upTo: maximumBodyBytes))
    } catch is NIOTooManyBytesError {
      let refusal = RequestRefusal(413, "the body is longer than \(maximumBodyBytes) bytes", code: "CONTENT_TOO_LARGE")
      return response(site.reply(to: refusal), to: request, since: start)
    }
    var headers: [String: String] = [:]
    for field in request.headers {
      let name = field.name.canonicalName
      headers[name] = headers[name].map { "\($0), \(field.value)" } ?? field.value
    }
    let reply = await site.reply(
      to: DemoRequest(method: request.method.rawValue, target: request.uri.string, headers: headers, body: body))
    return response(reply, to: request, since: start)
  }

  private func response(_ reply: DemoReply, to request: Request, since start: ContinuousClock.Instant) -> Response {
    var headers = HTTPFields()
    for (name, value) in reply.headers { if let name = HTTPField.Name(name) { headers[name] = value } }
    let status = HTTPResponse.Status(code: reply.status)
    let (body, length): (ResponseBody, String)
    switch reply.body {
    case .whole(let bytes): (body, length) = (ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)), "\(bytes.count) bytes")
    case .streamed(let parts):
      (body, length) = (ResponseBody(asyncSequence: parts.map { ByteBuffer(bytes: $0) }), "in parts")
    }
    if !isQuiet {
      let type = reply.headers["Content-Type"] ?? ""
      Terminal.complain(
        "\(request.method) \(request.uri.path) \(reply.status) \(type), \(length), \((ContinuousClock.now - start).microseconds)")
    }
    return Response(status: status, headers: headers, body: body)
  }
}
