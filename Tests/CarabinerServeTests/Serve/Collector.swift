import ScriptedServer
import TestTools
import Testing

/// A trace collector that keeps the requests it receives.
struct Collector {
  private let server: ScriptedServer

  var origin: String { server.origin }

  init() throws {
    server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(headers: "Content-Type: application/json\r\n", body: "{}") })
  }

  /// The received requests.
  var requests: [ReceivedRequest] { server.requests }

  /// The received spans, decoded with OpenTelemetry's own messages.
  func spans() async throws -> [CollectedSpan] { try await CollectedSpan.read(server.requests.map(\.body)) }
}
