import Carabiner
import CarabinerWire
import FoundationEssentials
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// Nodes before whose Redis a proxy holds bytes back.
@Suite("The store behind a proxy that holds back")
struct SlowProxyTests {
  private let redis: RedisServer
  private let control = RelayControl(exempting: "SUBSCRIBE")
  private let proxy: ScriptedServer

  init() async throws {
    let redis = try await RedisServer()
    self.redis = redis
    proxy = try ScriptedServer { [control] peer in try peer.relay(to: redis.port, control) }
  }

  /// A node behind the proxy.
  private func node(_ change: (inout RedisStoreSettings) -> Void = { _ in }) async throws -> TestNode {
    let node = try TestNode("redis://127.0.0.1:\(proxy.port)", change)
    await node.isReady()
    return node
  }

  @Test("an answer that was asked for before another node changed its record is not put into memory", .rule("redis.16"))
  func race() async throws {
    let slow = try await node { $0.nearRecords = 100 }
    #expect(await eventually { slow.cache.usesNearRecords })
    let other = try await TestNode.ready(redis)
    try await other.publish(#"{"n":"old"}"#, for: "{ n }")
    let changes = Mutex(0)
    slow.cache.observeChanges { _ in changes.withLock { $0 += 1 } }
    control.holdAnswers()
    async let answer = slow.data("{ n }")
    // The question is in Redis, and its answer waits in the proxy.
    #expect(await eventually { slow.cache.waitingCommands > 0 })
    #expect(await eventually { try redis.ask("CLIENT", "LIST").contains("cmd=exec") })
    try await other.publish(#"{"n":"new"}"#, for: "{ n }")
    #expect(await eventually { changes.withLock(\.self) > 0 })
    control.release()
    #expect(try await answer?["n"] == "old")
    #expect(try await slow.data("{ n }")?["n"] == "new")
  }

  @Test(
    "while a proxy reads nothing, writes are dropped at the size of the queue, and reads cost one budget",
    .rule("redis.11", "redis.18"))
  func deaf() async throws {
    let node = try await node {
      ($0.readBudget, $0.writeTime, $0.writeQueueBytes) = (.milliseconds(50), .seconds(2), 1 << 20)
    }
    try await node.publish(#"{"n":"stored"}"#, for: "{ n }")
    control.holdRequests()
    let text = String(repeating: "x", count: 10_000)
    for number in 0..<1000 {
      let body = try ResponseBody(Data(#"{"data":{"n\#(number)":"\#(text)"}}"#.utf8))
      let operation = DynamicOperation(document: "{ n\(number) }")
      try await node.store.publish(records: try #require(ApolloStore.records(of: body, operation: operation)))
      #expect(node.cache.metrics.queuedBytes <= 1 << 20)
      if number % 100 == 0 { _ = try? await node.data("{ n }") }
    }
    #expect(node.cache.metrics.droppedWrites.values.reduce(0, +) > 500, "\(node.cache.metrics.droppedWrites)")
    #expect(await eventually { node.cache.metrics.uses[0].isCircuitOpen || !node.cache.isAvailable })
    control.release()
    await node.isReady()
    #expect(await eventually { try await node.data("{ n }")?["n"] == "stored" })
  }
}
