import CarabinerRESP
import CarabinerRedis
import TestTools
import Testing

/// Counts and keys of mutations in three real nodes of a cluster.
@Suite("Shared state in a cluster")
struct SharedClusterTests {
  @Test("counts and keys are on the master of the prefix, also after it has moved", .rule("redis.22", "redis.23"))
  func moved() async throws {
    let cluster = try await ClusterServers()
    let slot = try cluster.slot(of: "{crb:shop}:l:")
    let owner = try cluster.owner(of: slot)
    var settings = RedisSettings(urls: [try RedisURL(cluster.nodes[(owner + 1) % 3].url)], node: "test")
    settings.isCluster = true
    (settings.limits.openingTime, settings.limits.pingTime) = (.seconds(30), .seconds(30))
    let store = try SharedStore(settings, prefix: "shop", budget: .seconds(30))
    #expect(await eventually { store.isAvailable })
    let count = SharedCount(name: [1], lastName: [2], added: 5, addedToLast: 1)
    #expect(try await store.exchange([count], life: .seconds(60)).totals.map(\.current) == [5])
    let keys = MutationKeys(store, life: .seconds(300))
    let (name, request) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    guard case .first(let lease) = try await keys.claim(name, fingerprint: request) else {
      Issue.record("the key is not new")
      return
    }
    let target = (owner + 1) % 3
    try cluster.beginMove(of: slot, from: owner, to: target)
    while try cluster.moveKeys(of: slot, from: owner, to: target) {}
    try cluster.endMove(of: slot, to: target)
    // The first commands may be refused, because they do not wait for a connection to the new master.
    #expect(await eventually { try await store.exchange([count], life: .seconds(60)).totals.map(\.current) == [10] })
    await lease.end(with: [7])
    guard case .answered([7]) = try await keys.claim(name, fingerprint: request) else {
      Issue.record("the answer is gone")
      return
    }
    #expect(try cluster.nodes[target].ask("DBSIZE") == "3")
  }
}
