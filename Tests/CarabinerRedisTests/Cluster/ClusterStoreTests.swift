import Carabiner
import CarabinerRESP
import CarabinerWire
import FoundationEssentials
import Logging
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// The store in three real nodes of a cluster, in one slot.
@Suite("The store in a cluster", .serialized)
struct ClusterStoreTests {
  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  private let query = "query($x: Int) { hero(x: $x) { __typename id name friends { __typename id name } } n }"
  private let data = #"""
    {"hero":{"__typename":"H","id":1,"name":"a","friends":[{"__typename":"H","id":2,"name":"ü"},null]},"n":[[1],[]]}
    """#

  private let cluster: ClusterServers
  private let slot: Int
  private let owner: Int

  init() async throws {
    cluster = try await ClusterServers()
    slot = try cluster.slot(of: "{crb:shop}:c")
    owner = try cluster.owner(of: slot)
  }

  /// A node that can read and write. Its server is not the one of the slot.
  private func node(_ change: (inout RedisStoreSettings) -> Void = { _ in }) async throws -> TestNode {
    let node = try TestNode(cluster.nodes[(owner + 1) % 3].url) {
      $0.connection.isCluster = true
      change(&$0)
    }
    await node.isReady()
    return node
  }

  @Test("a response is read by another node, a change reaches it, and removals find all keys", .rule("redis.19"))
  func roundTrip() async throws {
    let (one, other) = (try await node(), try await node { $0.nearRecords = 1000 })
    #expect(await eventually { other.cache.usesNearRecords })
    try await one.publish(data, for: query, ["x": 1])
    #expect(try await other.data(query, ["x": 1]) == json(data))
    #expect(try cluster.nodes[owner].keys().count == 5)
    // The other node has the number in memory, and the message of the first one removes it.
    try await one.publish(#"{"n":2}"#, for: "{ n }")
    #expect(await eventually { try await other.data("{ n }") == ["n": 2] })
    #expect(try await one.cache.keys(matching: nil).sorted() == ["H:1", "H:2", "QUERY_ROOT"])
    #expect(try await one.store.removeObjects(matching: "H:*") == 2)
    try await one.store.clearCache()
    #expect(try cluster.nodes[owner].keys() == ["{crb:shop}:v"])
    #expect(await eventually { try await other.data("{ n }") == nil })
  }

  @Test("a transaction works in the slot of the store, also after the slot has moved", .rule("redis.19", "redis.13"))
  func transactions() async throws {
    let (one, other) = (try await node(), try await node())
    let operation = DynamicOperation(document: "{ n }", variables: [:])
    try await one.publish(#"{"n":0}"#, for: "{ n }")
    func increase(_ node: TestNode) async throws -> Bool {
      try await node.store.update(operation) { $0 = ["n": .number(JSONNumber(($0["n"]?.int ?? -1) + 1))] }
    }
    #expect(try await increase(one))
    #expect(try await increase(other))
    #expect(try await one.data("{ n }") == ["n": 2])
    try cluster.move(slot, from: owner, to: (owner + 1) % 3)
    #expect(await eventually { try await increase(one) }, "\(one.log.lines)")
    #expect(await eventually { try await other.data("{ n }") == ["n": 3] })
  }

  @Test("while the slot moves to and fro, reads have the right data or are misses, and then all is as before", .rule("redis.19"))
  func reshard() async throws {
    let (writer, reader) = (try await node(), try await node())
    let document = "{ list { __typename id a b } round }"
    @Sendable func response(_ round: Int) -> String {
      let items = (0..<20).map { #"{"__typename":"H","id":\#($0),"a":\#(round),"b":\#(round)}"# }
      return #"{"list":[\#(items.joined(separator: ","))],"round":\#(round)}"#
    }
    try await writer.publish(response(0), for: document)
    #expect(await eventually { try await reader.data(document) == json(response(0)) })
    let isOver = Flag()
    let rounds = try await withThrowingTaskGroup { group in
      group.addTask {
        var round = 0
        while !isOver.value.load(ordering: .relaxed) {
          round += 1
          try await writer.publish(response(round), for: document)
        }
        return round
      }
      group.addTask {
        var (last, hits) = (0, 0)
        while !isOver.value.load(ordering: .relaxed) {
          // A node that cannot be reached is a miss, as for an operation.
          guard let data = try? await reader.data(document), let round = data["round"]?.int else { continue }
          hits += 1
          #expect(round >= last, "\(round) after \(last)")
          // The list is read with the number or after it, and all of it at one moment.
          let later = data["list"]?[0]?["a"]?.int ?? -1
          let expected = try json(response(later))["list"]
          #expect(later >= round && data["list"] == expected, "\(data)")
          last = round
        }
        return hits
      }
      for number in 0..<6 {
        let (source, target) = ((owner + number) % 3, (owner + number + 1) % 3)
        try cluster.beginMove(of: slot, from: source, to: target)
        // Key by key, so that both nodes have some for a time.
        while try cluster.moveKeys(of: slot, from: source, to: target, at: 1) { try await Task.sleep(for: .milliseconds(5)) }
        try cluster.endMove(of: slot, to: target)
        // Until it works again, or the move would be the only thing that is tested.
        try await cluster.wait { _ in try cluster.owner(of: slot) == target }
        #expect(await eventually { (try? await reader.data(document)) != nil }, "\(reader.log.lines)")
      }
      isOver.value.store(true, ordering: .relaxed)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(rounds.allSatisfy { $0 > 6 }, "\(rounds)")
    #expect(
      await eventually {
        try await writer.publish(response(1_000_000), for: document)
        return try await reader.data(document) == json(response(1_000_000))
      }, "\(writer.log.lines)")
  }

  /// The nodes that have subscribers of the store's messages.
  private func subscribed() throws -> [Int] {
    try cluster.nodes.indices.filter { try cluster.nodes[$0].ask("PUBSUB", "CHANNELS").contains("{crb:shop}:c") }
  }

  @Test("messages are read from the master of the store's slot, also after the slot has moved", .rule("redis.19", "redis.12"))
  func messages() async throws {
    // Only a message ends what is in memory.
    let one = try await node { ($0.nearRecords, $0.nearMaximumAge) = (1000, .seconds(3600)) }
    let other = try await node()
    #expect(await eventually { try one.cache.usesNearRecords && subscribed() == [owner] }, "\(one.log.lines)")
    let target = (owner + 1) % 3
    try cluster.move(slot, from: owner, to: target)
    // The move is noticed by a redirect.
    #expect(
      await eventually {
        for node in [one, other] { _ = try? await node.data("{ n }") }
        return try subscribed() == [target]
      }, "\(one.log.lines)")
    // A node that is not in the cluster any more gets no messages.
    for place in cluster.nodes.indices where place != owner {
      _ = try cluster.nodes[place].ask("CLUSTER", "FORGET", try cluster.nodes[owner].ask("CLUSTER", "MYID"))
    }
    _ = try cluster.nodes[owner].ask("FLUSHALL")
    _ = try cluster.nodes[owner].ask("CLUSTER", "RESET", "HARD")
    #expect(await eventually { one.cache.usesNearRecords })
    for number in 1...20 {
      #expect(
        await eventually {
          try await other.publish(#"{"n":\#(number)}"#, for: "{ n }")
          return try await one.data("{ n }") == ["n": .number(JSONNumber(number))]
        }, "\(one.log.lines)")
    }
  }

  @Test(
    "after a failover to a replica, reads, writes and messages go to the new master", .rule("redis.19"), arguments: [false, true])
  func failover(isSilent: Bool) async throws {
    let replica = try await cluster.addReplica(of: owner)
    // Only a message ends what is in memory.
    let one = try await node {
      ($0.nearRecords, $0.nearMaximumAge, $0.readBudget) = (1000, .seconds(3600), .milliseconds(20))
    }
    let other = try await node { ($0.readBudget, $0.writeTime) = (.milliseconds(20), .milliseconds(500)) }
    try await one.publish(#"{"n":1}"#, for: "{ n }")
    #expect(await eventually { try await other.data("{ n }") == ["n": 1] })
    if isSilent { try await cluster.nodes[owner].stop() } else { cluster.nodes[owner].end() }
    #expect(try replica.ask("CLUSTER", "FAILOVER", "TAKEOVER") == "OK")
    #expect(
      await eventually {
        try await other.publish(#"{"n":2}"#, for: "{ n }")
        return try await (one.data("{ n }"), other.data("{ n }")) == (["n": 2], ["n": 2])
      }, "\(one.log.lines) \(other.log.lines)")
    #expect(await eventually { try one.cache.usesNearRecords && replica.ask("PUBSUB", "CHANNELS").contains("{crb:shop}:c") })
    try await other.publish(#"{"n":3}"#, for: "{ n }")
    #expect(await eventually { try await one.data("{ n }") == ["n": 3] })
    if isSilent { cluster.nodes[owner].proceed() }
  }

  @Test(
    "a master that was taken out of the cluster, and is the server of the settings, is left for its replacement",
    .rule("redis.19"))
  func removed() async throws {
    let replica = try await cluster.addReplica(of: owner)
    let node = try TestNode(cluster.nodes[owner].url) { $0.connection.isCluster = true }
    await node.isReady()
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(await eventually { try await node.data("{ n }") == ["n": 1] })
    #expect(try replica.ask("CLUSTER", "FAILOVER", "TAKEOVER") == "OK")
    try await cluster.wait(for: [cluster.nodes[owner]]) { try $0.ask("INFO", "replication").contains("role:slave") }
    // It knows no slots now, and refuses all commands.
    #expect(try cluster.nodes[owner].ask("CLUSTER", "RESET", "HARD") == "OK")
    #expect(
      await eventually {
        try await node.publish(#"{"n":2}"#, for: "{ n }")
        return try await node.data("{ n }") == ["n": 2]
      }, "\(node.log.lines)")
  }

  @Test(
    "while the master of the store is away, reads are misses and writes are dropped without waiting",
    .rule("redis.19", "convention.5"))
  func killed() async throws {
    let node = try await node { $0.removalTime = .seconds(1) }
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    cluster.nodes[owner].end()
    #expect(await eventually { !node.cache.isAvailable })
    for _ in 0..<100 { #expect(try await node.data("{ n }") == nil) }
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    let error = await #expect(throws: StoreError.self) { try await node.store.clearCache() }
    #expect(error?.code == .unavailable)
    try await cluster.nodes[owner].restart()
    #expect(
      await eventually {
        try await node.publish(#"{"n":2}"#, for: "{ n }")
        return try await node.data("{ n }") == ["n": 2]
      }, "\(node.log.lines)")
  }

  @Test(
    "while the master of the store is silent, reads wait for their budget, and then not at all", .rule("redis.19", "redis.18"))
  func silent() async throws {
    let node = try await node { $0.readBudget = .milliseconds(20) }
    try await cluster.nodes[owner].stop()
    let isOpen = await eventually {
      _ = try? await node.data("{ a { b } }")
      return !node.cache.isAvailable
    }
    #expect(isOpen)
    cluster.nodes[owner].proceed()
    await node.isReady()
  }

  @Test("a cluster whose slots are given out after the node has asked for them is used", .rule("redis.19"))
  func late() async throws {
    let server = try await RedisServer(["--cluster-enabled", "yes"])
    let node = try TestNode(server.url) { $0.connection.isCluster = true }
    #expect(await eventually { node.log.lines.contains { $0.contains("no node has a slot") } }, "\(node.log.lines)")
    _ = try server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    await node.isReady()
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    #expect(try await node.data("{ n }") == ["n": 1])
  }

  @Test("without cluster: true, the log says once that the server is a node of a cluster", .rule("redis.19"))
  func unconfigured() async throws {
    let node = try TestNode(cluster.nodes[(owner + 1) % 3].url)
    #expect(await eventually { node.log.lines.contains { $0.contains("set cluster: true") } }, "\(node.log.lines)")
    #expect(!node.cache.isAvailable)
  }
}
