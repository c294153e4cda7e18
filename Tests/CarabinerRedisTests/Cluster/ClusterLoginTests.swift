import CarabinerRESP
import CarabinerWire
import Foundation
import Logging
import TestTools
import Testing

@testable import CarabinerRedis

/// The permissions that a cluster needs.
@Suite("The login to a cluster")
struct ClusterLoginTests {
  private static let leastACL =
    "~{crb:shop}* &{crb:shop}* -@all +hello +auth +client|setname +ping +time +hmget +hset +hlen +get +set +pexpire "
    + "+unlink +multi +exec +watch +unwatch +publish +subscribe"

  private static func user(_ permissions: String) -> [String] {
    ["--user", "node", "on", ">right"] + permissions.split(separator: " ").map(String.init)
  }

  private func node(_ cluster: ClusterServers) throws -> TestNode {
    try TestNode(cluster.nodes[0].url) {
      ($0.connection.isCluster, $0.connection.user, $0.connection.password) = (true, "node", "right")
      $0.nearRecords = 10
    }
  }

  @Test("a store needs the least ACL with CLUSTER SLOTS and ASKING, also while its slot is moved", .rule("redis.19", "redis.3"))
  func least() async throws {
    let cluster = try await ClusterServers(Self.user(Self.leastACL + " +cluster|slots +asking"))
    let node = try node(cluster)
    await node.isReady()
    #expect(await eventually { node.cache.usesNearRecords })
    let slot = try cluster.slot(of: "{crb:shop}:c")
    let owner = try cluster.owner(of: slot)
    let target = (owner + 1) % 3
    // A connection to the other node, which a redirect would only begin to open.
    try cluster.beginMove(of: slot, from: owner, to: target)
    #expect(
      await eventually {
        try await node.publish(#"{"n":1}"#, for: "{ n }")
        return try cluster.nodes[target].ask("INFO", "commandstats").contains("cmdstat_asking")
          && cluster.nodes[target].keys().contains("{crb:shop}:f:QUERY_ROOT|n")
      }, "\(node.log.lines)")
    #expect(try await node.data("{ n }") == ["n": 1])
    #expect(!node.log.lines.contains { $0.contains("NOPERM") }, "\(node.log.lines)")
  }

  @Test("without CLUSTER SLOTS nothing is used, and the log says what is missing", .rule("redis.19", "redis.3"))
  func missing() async throws {
    let cluster = try await ClusterServers(Self.user(Self.leastACL))
    let node = try node(cluster)
    #expect(await eventually { node.log.has(.critical, "let the user run CLUSTER SLOTS and ASKING") }, "\(node.log.lines)")
    #expect(!node.cache.isAvailable)
  }
}
