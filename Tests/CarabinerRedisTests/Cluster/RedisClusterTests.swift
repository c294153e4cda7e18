import CarabinerRESP
import CarabinerRedis
import Foundation
import Logging
import TestTools
import Testing

/// The client with three real nodes of a cluster.
@Suite("Commands to a real cluster", .serialized)
struct RedisClusterTests {
  private let cluster: ClusterServers
  private let test: TestClient

  init() async throws {
    cluster = try await ClusterServers()
    test = try TestClient(cluster.nodes[0].url) { $0.isCluster = true }
    await test.opened()
  }

  /// Sends commands to the slot of a key.
  private func ask(_ key: String, _ commands: [String]...) async -> String {
    await test.ask(commands.reduce(into: CommandBatch()) { $0.add($1) }, to: HashSlot(key: key))
  }

  /// A key of one node, of which there is a connection to it and to the next node.
  private func key() async throws -> (key: String, slot: Int, owner: Int) {
    for key in ["a", "b", "c"] {
      #expect(await eventually { await ask(key, ["SET", "{\(key)}0", "0"]) == "OK" }, "\(test.log.lines)")
    }
    let slot = try cluster.slot(of: "a")
    #expect(slot == HashSlot(key: "a").number)
    #expect(Set(try ["a", "b", "c"].map { try cluster.owner(of: cluster.slot(of: $0)) }).count == 3)
    return ("a", slot, try cluster.owner(of: slot))
  }

  /// How often a node has given this kind of error.
  private func errors(_ code: String, of node: Int) throws -> Int {
    let text = try cluster.nodes[node].ask("INFO", "errorstats")
    return try text.firstMatch(of: Regex("errorstat_\(code):count=([0-9]+)", as: (Substring, Substring).self)).flatMap {
      Int($0.1)
    } ?? 0
  }

  @Test("MOVED is followed, once for commands and transactions, and the slots are asked for again", .rule("redis.19"))
  func moved() async throws {
    let (key, slot, owner) = try await key()
    let target = (owner + 1) % 3
    _ = try cluster.nodes[owner].ask("SET", "{a}1", "1")
    try cluster.move(slot, from: owner, to: target)
    // A batch without a transaction is sent again command by command.
    #expect(await ask(key, ["GET", "{a}1"], ["SET", "{a}2", "2"], ["GET", "{a}2"]) == "1,OK,2")
    #expect(try errors("MOVED", of: owner) > 0)
    #expect(await eventually { try cluster.nodes[target].ask("GET", "{a}2") == "2" })
    // With the new slots nothing is redirected.
    #expect(
      await eventually {
        let before = try errors("MOVED", of: owner)
        let answer = await ask(key, ["GET", "{a}1"])
        return try answer == "1" && errors("MOVED", of: owner) == before
      })
    try cluster.move(slot, from: target, to: owner)
    let transaction = CommandBatch(["INCR", "{a}n"], ["INCR", "{a}n"])
    let replies = try await test.client.transaction(transaction, to: HashSlot(key: key), within: TestClient.patience)
    #expect(replies.map(\.line) == ["1", "2"])
  }

  @Test("ASK is followed with ASKING while a slot is moved, and what has both nodes' keys is unavailable", .rule("redis.19"))
  func asked() async throws {
    let (key, slot, owner) = try await key()
    let target = (owner + 1) % 3
    #expect(await ask(key, ["SET", "{a}old", "1"]) == "OK")
    try cluster.beginMove(of: slot, from: owner, to: target)
    #expect(await ask(key, ["GET", "{a}old"], ["GET", "{a}new"], ["SET", "{a}new", "2"], ["GET", "{a}new"]) == "1,nil,OK,2")
    #expect(try cluster.nodes[target].ask("INFO", "commandstats").contains("cmdstat_asking:calls=3"))
    #expect(try errors("ASK", of: owner) == 3)
    let transaction = CommandBatch(["INCR", "{a}n"], ["INCR", "{a}n"])
    let replies = try await test.client.transaction(transaction, to: HashSlot(key: key), within: TestClient.patience)
    #expect(replies.map(\.line) == ["1", "2"])
    let error = await #expect(throws: RedisError.self) {
      try await test.client.transaction(
        CommandBatch(["GET", "{a}old"], ["GET", "{a}new"]), to: HashSlot(key: key), within: TestClient.patience)
    }
    #expect(error?.code == .unavailable && error?.message.contains("TRYAGAIN") == true, "\(String(describing: error))")
    while try cluster.moveKeys(of: slot, from: owner, to: target) {}
    try cluster.endMove(of: slot, to: target)
    #expect(await ask(key, ["GET", "{a}old"], ["GET", "{a}new"]) == "1,2")
  }

  @Test(
    "a killed master is unavailable at once, the others go on, and it is used again when it is back",
    .rule("redis.19", "redis.18"))
  func killed() async throws {
    let (key, _, owner) = try await key()
    cluster.nodes[owner].end()
    #expect(await eventually { await ask(key, ["GET", "{a}0"]) == "unavailable" })
    #expect(await ask("b", ["GET", "{b}0"]) == "0")
    #expect(await ask("c", ["GET", "{c}0"]) == "0")
    try await cluster.nodes[owner].restart()
    #expect(await eventually { await ask(key, ["SET", "{a}0", "1"]) == "OK" }, "\(test.log.lines)")
  }

  @Test("messages reach subscribers of every node", .rule("redis.19"))
  func channels() async throws {
    for (number, node) in cluster.nodes.enumerated() {
      let subscriber = try TestClient(node.url, channels: ["{crb:shop}:c"]) { $0.isCluster = true }
      await subscriber.opened()
      #expect(await test.ask("PUBLISH", "{crb:shop}:c", "\(number)") != "unavailable")
      #expect(await eventually { subscriber.eventList.last == "message {crb:shop}:c \(number)" }, "\(subscriber.eventList)")
    }
  }

  @Test("a client that has lost the server of its settings asks the other nodes for the slots", .rule("redis.19"))
  func lostSeed() async throws {
    _ = try await key()
    cluster.nodes[0].end()
    let slot = try cluster.slot(of: "c", at: 1)
    try cluster.beginMove(of: slot, from: 1, to: 2)
    while try cluster.moveKeys(of: slot, from: 1, to: 2) {}
    try cluster.endMove(of: slot, to: 2, at: [2, 1])
    #expect(await ask("c", ["GET", "{c}0"]) == "0")
    func questions() throws -> Int {
      try (1...2).reduce(0) { sum, node in
        let text = try cluster.nodes[node].ask("INFO", "commandstats")
        return sum + (text.firstMatch(of: /cmdstat_cluster\|slots:calls=([0-9]+)/).flatMap { Int($0.1) } ?? 0)
      }
    }
    #expect(await eventually { try questions() > 0 }, "\(test.log.lines)")
    #expect(await ask("c", ["GET", "{c}0"]) == "0")
  }

  @Test("a server without a cluster is not used, and the log says why", .rule("redis.19"))
  func noCluster() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url) { $0.isCluster = true }
    #expect(await eventually { test.log.has(.warning, "remove cluster: true") }, "\(test.log.lines)")
    #expect(await test.ask("PING") == "unavailable" && !test.client.isAvailable)
  }
}
