import Carabiner
import CarabinerRESP
import CarabinerWire
import FoundationEssentials
import Logging
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// The store in three real nodes of a cluster, with a slot for each key.
@Suite("The store spread over a cluster", .serialized)
struct SpreadStoreTests {
  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  private let cluster: ClusterServers

  init() async throws { cluster = try await ClusterServers() }

  /// A node that can read and write on all masters.
  private func node(_ change: (inout RedisStoreSettings) -> Void = { _ in }) async throws -> TestNode {
    let node = try TestNode(cluster.nodes[0].url) {
      ($0.connection.isCluster, $0.isSpread) = (true, true)
      change(&$0)
    }
    await node.isReady()
    let links = try #require(node.cache.client.cluster)
    for address in links.keyHolders { _ = try await links.opened(address, until: .now + TestClient.patience) }
    return node
  }

  private func keys() throws -> [[String]] { try cluster.nodes.map { try $0.keys() } }

  /// A list of objects, each of which refers to another one.
  private func response(_ count: Int, from first: Int = 0) -> String {
    let items = (first..<first + count).map {
      #"{"__typename":"H","id":\#($0),"next":{"__typename":"N","id":\#($0),"a":\#(first)}}"#
    }
    return #"{"list":[\#(items.joined(separator: ","))]}"#
  }

  private let document = "{ list { __typename id next { __typename id a } } }"

  @Test("with spread, the records are on all masters, and another node reads, sees changes and removes them", .rule("redis.19"))
  func roundTrip() async throws {
    let (one, other) = (try await node(), try await node { $0.nearRecords = 1000 })
    #expect(await eventually { other.cache.usesNearRecords })
    try await one.publish(response(50), for: document)
    #expect(try await other.data(document) == json(response(50)))
    let all = try keys()
    #expect(all.allSatisfy { $0.count > 10 }, "\(all.map(\.count))")
    #expect(Set(all.joined()).isSuperset(of: ["{crb:shop}:v", "{crb:shop:f:QUERY_ROOT|list}", "{crb:shop:r:H:1}"]))
    for node in cluster.nodes { for key in try node.keys() { #expect(try node.ask("TTL", key) != "-1", "\(key)") } }
    try await one.publish(#"{"node":{"__typename":"N","id":7,"a":"}ü"}}"#, for: "{ node { __typename id a } }")
    #expect(await eventually { try await other.data("{ node { a } }") == ["node": ["a": "}ü"]] })
    // Whole records, long names, and names with braces.
    let names = ["H:1", "H:}{", "N:" + String(repeating: "k", count: 600)]
    let records = names.map { Record(key: $0, fields: ["a": Data("1".utf8)]) }
    try await one.store.publish(records: RecordSet(records))
    await one.cache.drained()
    #expect(
      try await other.cache.records(forKeys: names).compactMap(\.self).map { $0["a"] }
        == Array(repeating: Array("1".utf8), count: 3))
    #expect(Set(try await other.cache.keys(matching: nil)).isSuperset(of: names + ["QUERY_ROOT"]))
    #expect(try await other.cache.records(forKeys: ["QUERY_ROOT"])[0]?.names.sorted() == ["list", "node"])
    try await one.store.removeObject(for: "H:}{")
    #expect(try await other.cache.keys(matching: "H:*").count == 50)
    #expect(try await one.store.removeObjects(matching: "H:*") == 50)
    try await one.store.clearCache()
    #expect(Set(try keys().joined()) == ["{crb:shop}:v"])
  }

  @Test(
    "with spread, a reader never finds a reference to a missing record while 1,200 records are written",
    .rule("redis.19", "redis.9"))
  func noDanglingReference() async throws {
    let (writer, reader) = (try await node(), try await node())
    try await writer.publish(response(600), for: document)
    let isOver = Flag()
    try await withThrowingTaskGroup { group in
      group.addTask {
        for round in 1...3 { try await writer.publish(response(600, from: round * 600), for: document) }
        isOver.value.store(true, ordering: .relaxed)
      }
      var reads = 0
      while !isOver.value.load(ordering: .relaxed) || reads == 0 {
        #expect(try await reader.data(document) != nil)
        reads += 1
      }
      try await group.waitForAll()
    }
    #expect(try await reader.data(document) == json(response(600, from: 1800)))
  }

  @Test("with spread, a record with many fields is replaced in one transaction, so readers never miss it", .rule("redis.19"))
  func replaced() async throws {
    let (writer, reader) = (try await node(), try await node())
    func write(_ value: Int) async throws {
      // More than the maximum, so the next write removes the record first.
      let fields = Dictionary(uniqueKeysWithValues: (0..<600).map { ("f\($0)", Data("\(value)".utf8)) })
      try await writer.store.publish(records: RecordSet([Record(key: "H:1", fields: fields)]))
      await writer.cache.drained()
    }
    try await write(0)
    let (isOver, hasRead) = (Flag(), Flag())
    async let misses = {
      var count = 0
      while !isOver.value.load(ordering: .relaxed) {
        defer { hasRead.value.store(true, ordering: .relaxed) }
        if try await reader.cache.records(for: [("H:1", ["f0"])])[0]?["f0"] == nil { count += 1 }
      }
      return count
    }()
    #expect(await eventually { hasRead.value.load(ordering: .relaxed) })
    for value in 1...50 { try await write(value) }
    isOver.value.store(true, ordering: .relaxed)
    #expect(try await misses == 0)
  }

  @Test("with spread, a transaction fails with unavailable and writes nothing", .rule("redis.19", "redis.13"))
  func noTransaction() async throws {
    let node = try await node()
    try await node.publish(#"{"n":1}"#, for: "{ n }")
    let error = await #expect(throws: StoreError.self) {
      try await node.store.withinReadWriteTransaction { _ in }
    }
    #expect(error?.code == .unavailable && error?.message.contains("spread") == true, "\(String(describing: error))")
    let operation = DynamicOperation(document: "{ n }", variables: [:])
    let other = await #expect(throws: StoreError.self) { try await node.store.update(operation) { $0 = ["n": 2] } }
    #expect(other?.code == .unavailable)
    #expect(try await node.data("{ n }") == ["n": 1])
  }

  @Test(
    "with spread, a master that is away only misses its own records, and no parent is written without its children",
    .rule("redis.19"))
  func oneMaster() async throws {
    let (node, other) = (try await node(), try await node())
    let home = try cluster.owner(of: cluster.slot(of: "{crb:shop}:c"))
    let lost = (home + 1) % 3
    let names = (0..<60).map { "H:\($0)" }
    let records = names.map { Record(key: $0, fields: ["a": Data("1".utf8)]) }
    try await node.store.publish(records: RecordSet(records))
    await node.cache.drained()
    let gone = Set(try names.filter { try cluster.nodes[lost].keys().contains("{crb:shop:r:\($0)}") })
    #expect(!gone.isEmpty && gone.count < 60)
    let field = try #require(
      try names.map { "f\($0.dropFirst(2))" }.first {
        try cluster.owner(of: HashSlot(key: "{crb:shop:f:QUERY_ROOT|\($0)}").number) == home
      })
    cluster.nodes[lost].end()
    #expect(
      await eventually {
        let found = try await node.cache.records(for: names.map { ($0, ["a"]) })
        return zip(names, found).allSatisfy { gone.contains($0) == ($1 == nil) }
      }, "\(node.log.lines)")
    // The record that another master has taken is news for all nodes.
    let kept = try #require(names.first { !gone.contains($0) })
    let changes = Mutex(0)
    other.cache.observeChanges { _ in changes.withLock { $0 += 1 } }
    #expect(await eventually { other.cache.subscription.isAvailable })
    let some = (gone + [kept]).map { Record(key: $0, fields: ["a": Data("2".utf8)]) }
    try await node.store.publish(records: RecordSet(some))
    await node.cache.drained()
    #expect(await eventually { changes.withLock(\.self) > 0 })
    // The children are on the master that is away, and the root's field on another one.
    let items = gone.map { #"{"__typename":"H","id":\#($0.dropFirst(2)),"b":1}"# }.joined(separator: ",")
    try await node.publish(#"{"\#(field)":[\#(items)]}"#, for: "{ \(field) { __typename id b } }")
    #expect(try cluster.nodes[home].ask("EXISTS", "{crb:shop:f:QUERY_ROOT|\(field)}") == "0")
  }

  @Test("with spread, slots that move one after another give right data or misses", .rule("redis.19"))
  func reshard() async throws {
    let (writer, reader) = (try await node(), try await node())
    let records = (0..<20).map { Record(key: "H:\($0)", fields: ["a": Data("0".utf8)]) }
    try await writer.store.publish(records: RecordSet(records))
    await writer.cache.drained()
    let wanted = records.map { ($0.key, ["a"]) }
    for (number, record) in records.enumerated() {
      let slot = HashSlot(key: "{crb:shop:r:\(record.key)}").number
      let owner = try cluster.owner(of: slot)
      let target = (owner + 1) % 3
      try cluster.beginMove(of: slot, from: owner, to: target)
      if number.isMultiple(of: 2) { _ = try cluster.moveKeys(of: slot, from: owner, to: target) }
      let value = Array("\(number + 1)".utf8)
      try await writer.store.publish(records: RecordSet([Record(key: record.key, fields: ["a": Data(value)])]))
      await writer.cache.drained()
      // All nodes are connected to, so what is redirected is followed.
      #expect(try await reader.cache.records(for: wanted)[number]?["a"] == value)
      while try cluster.moveKeys(of: slot, from: owner, to: target) {}
      try cluster.endMove(of: slot, to: target)
      #expect(try await reader.cache.records(for: wanted)[number]?["a"] == value)
    }
    #expect(try await reader.cache.records(for: wanted).compactMap(\.self).count == 20)
  }

  @Test("spread without a cluster is refused", .rule("redis.19"))
  func noCluster() {
    let error = #expect(throws: RedisError.self) { try TestNode("redis://127.0.0.1:1") { $0.isSpread = true } }
    #expect(error?.code == .invalidSettings && error?.message.contains("set cluster: true as well") == true)
  }

  @Test("records are written in groups, each after those that it refers to", .rule("redis.19"))
  func levels() {
    func record(_ key: String, _ references: String...) -> Record {
      let fields = references.enumerated().map { ("f\($0)", Data(#"{"$ref":"\#($1)"}"#.utf8)) }
      return Record(key: key, fields: Dictionary(uniqueKeysWithValues: fields + [("id", Data("1".utf8))]))
    }
    let levels = RecordOrder.levels([
      record("QUERY_ROOT", "A", "D"), record("A", "B", "C"), record("B", "C"), record("C", "X"), record("D"), record("D", "A"),
    ])
    #expect(levels.map { $0.map(\.key).sorted() } == [["C", "D"], ["B"], ["A"], ["D"], ["QUERY_ROOT"]])
    // A circle cannot be ordered, and ends.
    #expect(RecordOrder.levels([record("A", "B"), record("B", "A")]).flatMap(\.self).count == 2)
  }
}
