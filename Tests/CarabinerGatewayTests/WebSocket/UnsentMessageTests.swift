import Carabiner
import CarabinerWire
import Foundation
import Logging
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerGateway

/// Messages to a client that does not read.
@Suite("Unsent messages of WebSockets", .timeLimit(.minutes(5)))
struct UnsentMessageTests {
  /// Larger than the buffers of the system for a few operations together.
  private static let size = 4 << 20
  private static let operations = 8
  private let metrics = GatewayMetrics()

  private func gateway(_ change: (inout GatewayLimits) -> Void = { _ in }) async throws -> LocalGateway {
    var limits = GatewayLimits.untimed
    change(&limits)
    let response = try GraphQLResponse<DynamicOperation>(
      json: ["data": ["a": .string(String(repeating: "a", count: Self.size))]])
    let runner = ScriptedRunner { _ in PullStream(elements: [response]) }
    return try await LocalGateway(
      OperationService(
        settings: CurrentSettings(limits: limits), runner: runner, metrics: metrics, logger: Logger(label: "test")),
      limits: limits)
  }

  /// A client that has begun the operations on one WebSocket and has not read their results.
  private func client(_ gateway: LocalGateway) async throws -> ClientSocket {
    try await offThePool { [port = gateway.port] in
      let client = try ClientSocket(port: port)
      client.send(
        "GET /graphql HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
      #expect(client.read(patience: 120_000) { $0.contains("\r\n\r\n") }.text.contains(" 101 "))
      var frames = Self.frame(#"{"type":"connection_init"}"#)
      for id in 1...Self.operations { frames += Self.frame(#"{"type":"subscribe","id":"\#(id)","payload":{"query":"{ a }"}}"#) }
      client.send(frames)
      return client
    }
  }

  /// A short text frame whose mask changes nothing.
  private static func frame(_ text: String) -> [UInt8] { [0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8) }

  /// Reads until the operations have ended, or until the gateway closes the connection.
  ///
  /// - Returns: How many ended with a result, and how many with an error.
  private func read(_ client: ClientSocket) async throws -> (results: Int, errors: Int, isClosed: Bool) {
    try await offThePool {
      var (rest, results, errors) = (Data(), 0, 0)
      let (complete, error) = (Data(#""complete""#.utf8), Data("TOO_MANY_UNSENT_BYTES".utf8))
      while results + errors < Self.operations, let piece = client.receive(patience: 120_000) {
        guard !piece.isEmpty else { return (results, errors, true) }
        rest.append(contentsOf: piece)
        while let range = [rest.range(of: complete), rest.range(of: error)].compactMap(\.self).min(by: {
          $0.lowerBound < $1.lowerBound
        }) {
          if range.count == complete.count { results += 1 } else { errors += 1 }
          rest = Data(rest[range.upperBound...])
        }
        rest = Data(rest.suffix(error.count - 1))
      }
      return (results, errors, false)
    }
  }

  @Test("messages count as unsent until the client reads them")
  func counted() async throws {
    let gateway = try await gateway()
    let client = try await client(gateway)
    #expect(await eventually { gateway.unsent.waiting > 2 * Self.size })
    let read = try await read(client)
    #expect(read.results == Self.operations && read.errors == 0)
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("messages do not count any more after their connection has ended")
  func disconnected() async throws {
    let gateway = try await gateway()
    let client = try await client(gateway)
    #expect(await eventually { gateway.unsent.waiting > 2 * Self.size })
    client.reset()
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("above the limit of a connection, results are replaced by errors, and the connection stays")
  func limitOfConnection() async throws {
    let gateway = try await gateway { $0.maximumUnsentPerConnection = 2 * Self.size }
    let client = try await client(gateway)
    let hasEnded = await eventually {
      var text = PrometheusText()
      metrics.write(to: &text)
      return text.text.contains("carabiner_websocket_operations_running 0\n")
        && text.text.contains(#"operations_total{outcome="completed"} \#(Self.operations)"#)
    }
    #expect(hasEnded)
    // The results have been handed to the loop. It writes them before the client reads.
    try await gateway.turn()
    #expect(gateway.unsent.waiting <= 2 * Self.size + 4096)
    let read = try await read(client)
    #expect(read.errors > 0 && read.results > 0 && read.results + read.errors == Self.operations, "\(read)")
    #expect(await eventually { gateway.unsent.waiting == 0 })
  }

  @Test("above the limit of all connections, the connection is closed")
  func limitOfAll() async throws {
    let gateway = try await gateway { $0.maximumUnsent = 2 * Self.size }
    let client = try await client(gateway)
    #expect(await eventually { gateway.unsent.waiting == 0 && gateway.connectionCount == 0 })
    let read = try await read(client)
    #expect(read.isClosed && read.results < Self.operations)
  }
}
