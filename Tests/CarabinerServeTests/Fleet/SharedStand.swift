import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Gateways with `serve.shared` in a real redis-server, before an upstream that counts.
struct SharedStand {
  let upstream: MutationUpstream
  let redis: RedisServer
  private let folder: StoreFolder

  init() async throws {
    upstream = try MutationUpstream()
    redis = try await RedisServer()
    folder = try StoreFolder()
  }

  /// A gateway whose questions to Redis have time, because the machine of a test may be busy.
  ///
  /// - Parameters:
  ///   - serve: Further keys of `serve`.
  ///   - budget: The time for an answer of Redis.
  ///   - endpoint: Another upstream.
  func gateway(_ serve: String, budget: String = "10s", endpoint: String? = nil, _ arguments: [String] = []) throws
    -> ServeProcess
  {
    let name = "shop.yaml"
    _ = try folder.write(
      """
      carabiner: 1
      serve:
        return-headers: [x-number]
        shared: {urls: ["\(redis.url)"], budget: \(budget)}
        \(serve)
      """, to: name)
    return try ServeProcess(folder, manifest: name, endpoint: endpoint ?? upstream.endpoint, arguments)
  }

  /// Writes another manifest and loads it.
  func reload(_ gateway: ServeProcess, _ serve: String) async throws {
    _ = try folder.write(
      """
      carabiner: 1
      serve:
        shared: {urls: ["\(redis.url)"], budget: 10s}
        \(serve)
      """, to: "shop.yaml")
    let run = try await gateway.ask("reload")
    #expect(run.status == 0, "\(run.errors)")
  }

  /// Waits until a gateway is connected to Redis.
  func waitUntilConnected(_ gateway: ServeProcess) async throws {
    #expect(await eventually { try await ScrapedMetrics(gateway)["carabiner_redis_up{use=shared}"] == 1 }, "\(gateway.errors)")
  }
}

/// An upstream that numbers its requests, and holds those called Held until `open()`.
final class MutationUpstream: Sendable {
  private let server: ScriptedServer
  private let gate = Gate()

  private final class Gate: Sendable {
    let isOpen = Mutex(false)
    let count = Mutex(0)
  }

  var endpoint: String { "\(server.origin)/graphql" }
  /// How many requests it has got.
  var count: Int { gate.count.withLock { $0 } }

  init() throws {
    let gate = gate
    server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        let number = gate.count.withLock { count in
          count += 1
          return count
        }
        let text = String(decoding: request.body, as: UTF8.self)
        while text.contains("Held"), !gate.isOpen.withLock(\.self) { peer.pause(milliseconds: 5) }
        if text.contains("Lost") { return peer.close() }
        let padding = text.contains("Large") ? String(repeating: "x", count: 5000) : ""
        try peer.respond(
          headers: "Content-Type: application/json\r\nX-Number: \(number)\r\n", body: #"{"data":{"n":"\#(number)\#(padding)"}}"#)
      })
  }

  deinit { open() }

  /// Answers what is held, and holds nothing more.
  func open() { gate.isOpen.withLock { $0 = true } }

  func waitUntilAsked(_ number: Int = 1) async throws {
    #expect(await eventually { count >= number })
  }
}
