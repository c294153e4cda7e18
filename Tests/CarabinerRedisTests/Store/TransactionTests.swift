import Carabiner
import CarabinerRESP
import CarabinerWire
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// Reads and writes that belong together, while other nodes use the store.
@Suite("Transactions of a store in Redis")
struct TransactionTests {
  private let server: RedisServer
  private let (node, other): (TestNode, TestNode)
  private let operation = DynamicOperation(document: "{ n }", variables: [:])

  init() async throws {
    server = try await RedisServer()
    node = try await TestNode.ready(server)
    other = try await TestNode.ready(server)
    try await node.publish(#"{"n":0}"#, for: "{ n }")
  }

  private func number(_ value: JSONValue) -> Int { value["n"]?.int ?? -1 }

  /// Adds one to the stored number, as a body of `update`.
  private func increase(_ value: inout JSONValue) { value = ["n": .number(JSONNumber(number(value) + 1))] }

  @Test("no increment of two nodes is lost", .rule("redis.13"))
  func noLostUpdate() async throws {
    let count = 20
    try await withThrowingTaskGroup { group in
      for node in [node, other] {
        group.addTask {
          var done = 0
          while done < count {
            do {
              if try await node.store.update(operation, { increase(&$0) }) { done += 1 }
            } catch let error as StoreError where error.code == .conflict {}
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await node.data("{ n }") == ["n": .number(JSONNumber(2 * count))])
    #expect(try await other.data("{ n }") == ["n": .number(JSONNumber(2 * count))])
  }

  @Test("a transaction fails with conflict and writes nothing if another node changed what it read", .rule("redis.13"))
  func conflict() async throws {
    let error = await #expect(throws: StoreError.self) {
      try await node.store.withinReadWriteTransaction { transaction in
        #expect(try await transaction.read(operation)?.data?["n"] == 0)
        try await other.publish(#"{"n":5}"#, for: "{ n }")
        try await transaction.write(["n": 1], for: operation)
        try await transaction.write(["m": 1], for: DynamicOperation(document: "{ m }", variables: [:]))
      }
    }
    #expect(error?.code == .conflict)
    #expect(try await node.data("{ n }") == ["n": 5])
    #expect(try await node.data("{ m }") == nil)
  }

  @Test(
    "update is tried three times, also if another node only renewed the life of the record", .rule("redis.13"),
    arguments: [0, 1, 2, 3])
  func tries(conflicts: Int) async throws {
    let calls = Mutex(0)
    func update() async throws -> Bool {
      try await node.store.update(operation) { value in
        let call = calls.withLock { calls in
          calls += 1
          return calls
        }
        increase(&value)
        if call <= conflicts { _ = try server.ask("PEXPIRE", "{crb:shop}:f:QUERY_ROOT|n", "10000000") }
      }
    }
    if conflicts < 3 {
      #expect(try await update())
    } else {
      let error = await #expect(throws: StoreError.self) { try await update() }
      #expect(error?.code == .conflict)
    }
    #expect(calls.withLock { $0 } == min(conflicts + 1, 3))
    #expect(try await other.data("{ n }") == ["n": .number(JSONNumber(conflicts < 3 ? 1 : 0))])
  }

  @Test("the keys that a transaction has watched do not disturb the next one", .rule("redis.13"))
  func unwatched() async throws {
    for number in 1...5 {
      _ = try await node.store.withinReadWriteTransaction { try await $0.read(operation) }
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await node.store.withinReadWriteTransaction { transaction in
          _ = try await transaction.read(operation)
          throw Stop()
        }
      }
      try await other.publish(#"{"n":\#(number * 10)}"#, for: "{ n }")
      try await node.store.write(["m": 1], for: DynamicOperation(document: "{ m }", variables: [:]))
      #expect(try await node.store.update(operation) { increase(&$0) })
      #expect(try await other.data("{ n }") == ["n": .number(JSONNumber(number * 10 + 1))])
    }
  }

  @Test("the keys that a refused read has watched do not disturb the next transaction", .rule("redis.13"))
  func refusedRead() async throws {
    _ = try server.ask("SET", "{crb:shop}:r:H:9", "1")
    let error = await #expect(throws: StoreError.self) {
      try await node.store.withinReadWriteTransaction { try await $0.record(for: "H:9") }
    }
    #expect(error?.code == .unavailable && error?.message.contains("HMGET") == true, "\(error as Any)")
    _ = try server.ask("DEL", "{crb:shop}:r:H:9")
    #expect(try await node.store.update(operation) { increase(&$0) })
  }

  @Test(
    "a transaction of 5,000 records is written as one, and removals by key depend on nothing that was read", .rule("redis.13"))
  func large() async throws {
    let records = (0..<5000).map { Record(key: "H:\($0)", fields: ["a": Data("\($0)".utf8)]) }
    try await node.store.withinReadWriteTransaction { try await $0.merge(RecordSet(records)) }
    #expect(try server.keys().count == 5002)
    #expect(try await other.cache.records(for: [("H:4999", ["a"])])[0]?["a"].map { Array($0) } == Array("4999".utf8))
    #expect(try await node.store.removeObjects(for: records.map(\.key) + ["H:x"]) == 5000)
    #expect(try server.keys().count == 2)
  }

  @Test("after its connection was lost, a transaction writes nothing", .rule("redis.13"))
  func lostConnection() async throws {
    let error = await #expect(throws: StoreError.self) {
      try await node.store.withinReadWriteTransaction { transaction in
        #expect(try await transaction.read(operation)?.data?["n"] == 0)
        _ = try server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        _ = try server.ask("SET", "{crb:shop}:f:QUERY_ROOT|n", "17000000000005")
        try await transaction.write(["n": 1], for: operation)
      }
    }
    #expect(error?.code == .unavailable)
    await node.isReady()
    #expect(await eventually { try await node.data("{ n }") == ["n": 5] })
    #expect(await eventually { try await node.store.update(operation) { increase(&$0) } })
  }

  @Test("a transaction removes records and roots together with its writes, and other nodes see all of it", .rule("redis.13"))
  func removal() async throws {
    try await node.publish(#"{"a":{"__typename":"H","id":1,"b":2}}"#, for: "{ a { __typename id b } }")
    try await node.store.withinReadWriteTransaction { transaction in
      #expect(try await transaction.record(for: "H:1")?.names.sorted() == ["__typename", "b", "id"])
      #expect(try await transaction.record(for: "QUERY_ROOT")?.names.sorted() == ["a", "n"])
      try await transaction.removeObject(for: "H:1")
      try await transaction.removeObject(for: "QUERY_ROOT")
      try await transaction.write(["m": 1], for: DynamicOperation(document: "{ m }", variables: [:]))
    }
    #expect(try server.keys() == ["{crb:shop}:f:QUERY_ROOT|m", "{crb:shop}:v"])
    #expect(try await other.data("{ m }") == ["m": 1])
  }

  @Test("while Redis is away, a transaction fails with unavailable", .rule("redis.13"))
  func away() async throws {
    server.end()
    #expect(await eventually { !node.cache.isAvailable })
    let error = await #expect(throws: StoreError.self) { try await node.store.update(operation) { increase(&$0) } }
    #expect(error?.code == .unavailable)
  }
}
