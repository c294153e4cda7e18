import ScriptedServer
import TestTools
import Testing

/// A collector of traces that keeps what it gets.
struct Collector {
  private let server: ScriptedServer

  var origin: String { server.origin }

  init() throws {
    server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(headers: "Content-Type: application/json\r\n", body: "{}") })
  }

  /// The heads of what came.
  var requests: [ReceivedRequest] { server.requests }

  /// The spans that came, read by OpenTelemetry's own messages.
  func spans() async throws -> [CollectedSpan] { try await CollectedSpan.read(server.requests.map(\.body)) }
}
